import { useCallback, useMemo, useReducer, useRef, useState } from 'react';
import type { JsonObject, Workflow, WorkflowDraft } from '#client/index.ts';
import { conditionOf, type PortId } from '#console/src/graph/ports.ts';
import { useDrawing } from '#console/src/graph/use-drawing.ts';
import { useMistakes } from '#console/src/pages/workflows/mistakes/use-mistakes.ts';
import { contentOf, useSaving } from '#console/src/pages/workflows/publishing/use-saving.tsx';
import { changeDraft, draftOf, type Adding } from './draft.ts';
import type { Selection } from './selection.ts';
import { useValuesRun, type ValuesOpening } from './authoring/use-values-run.ts';
import { useDraftRun } from './run/draft-run.ts';
import { useDraftPlaces } from './canvas/use-draft-places.ts';
import { useFieldFocus } from './use-field-focus.ts';
import { useKeptChanges } from '#console/src/pages/workflows/publishing/use-kept-changes.ts';
import { useLeaveGuard } from '#console/src/pages/workflows/publishing/use-leave-guard.ts';
import { useUndoKeys } from './use-undo-keys.ts';

/** Where the drawing is to be moved. Each object is one request. */
export type ViewRequest = { type: 'all' } | { type: 'node'; id: string };

const NOTHING: Selection = { nodes: [], edges: [] };

/** The draft, its selection and view state, its last run, and the actions on it. `opening` is what a link to the editor names. */
export function useEditor(
  workflow: Workflow,
  saved: WorkflowDraft | null,
  opening: ValuesOpening & { node?: string | undefined },
) {
  const first = contentOf(saved ?? workflow);
  const [draft, change] = useReducer(changeDraft, first.graph, draftOf);
  const { graph } = draft;
  const [inputSchema, setInputSchema] = useState<JsonObject | null>(first.inputSchema);
  const drawing = useDrawing(graph);
  const places = useDraftPlaces(drawing);
  const checked = useMistakes(workflow.id, graph, inputSchema);
  const content = useMemo(() => ({ graph, inputSchema }), [graph, inputSchema]);
  const saving = useSaving({ workflow, draft: saved }, content, (loaded) => {
    change({ type: 'load', graph: loaded.graph });
    setInputSchema(loaded.inputSchema);
  });
  const kept = useKeptChanges(workflow.id, content, saving);
  const draftRun = useDraftRun(workflow, saving);
  const values = useValuesRun(workflow.id, draftRun.run?.id, opening);
  useLeaveGuard(saving.unsaved);
  useUndoKeys(change, saving.save);
  const connect = useCallback(
    (source: string, target: string, port: PortId): void =>
      change({ type: 'connect', source, target, branch: conditionOf(port) }),
    [],
  );
  const takeKept = (): void => {
    if (kept.offered === undefined) return;
    const { graph: keptGraph, inputSchema: keptSchema, etag, version } = kept.offered;
    change({ type: 'replace', graph: keptGraph });
    setInputSchema(keptSchema);
    saving.continueFrom({ etag, version });
    kept.drop();
  };
  return {
    ...useDrawingState(),
    draft,
    change,
    graph,
    inputSchema,
    setInputSchema,
    content,
    drawing,
    places,
    checked,
    saving,
    kept,
    takeKept,
    draftRun,
    values,
    connect,
    ...useSelection(opening.node),
  };
}

/** What is open over the drawing, where its view is to be, and the node whose test was requested by its card. */
function useDrawingState() {
  const [adding, setAdding] = useState<Adding>();
  const [view, setView] = useState<ViewRequest>();
  const [finding, setFinding] = useState(false);
  const [toTest, setToTest] = useState<string>();
  return { toTest, setToTest, adding, setAdding, view, setView, finding, setFinding };
}

/** What is selected, and which panel shows. */
function useSelection(opening: string | undefined) {
  const [selection, setSelection] = useState(
    opening === undefined ? NOTHING : { nodes: [opening], edges: [] },
  );
  const [panel, setPanel] = useState<string | null>('chosen');
  const [nodeTab, setNodeTab] = useState('settings');
  const side = useRef<HTMLDivElement>(null);
  const { focused, focusField } = useFieldFocus(side);
  const choose = useCallback(
    (next: Selection, field?: string): void => {
      setSelection(next);
      setPanel('chosen');
      if (field !== undefined) setNodeTab('settings');
      focusField(field);
    },
    [focusField],
  );
  return { selection, setSelection, panel, setPanel, nodeTab, setNodeTab, side, focused, choose };
}

export type EditorState = ReturnType<typeof useEditor>;
