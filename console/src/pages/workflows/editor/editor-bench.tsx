import { Box, Group, Tabs, Text } from '@mantine/core';
import { useCallback, useMemo, useReducer, useRef, useState } from 'react';
import type { Workflow, WorkflowDraft } from '../../../../../client/index.ts';
import { type Drawing, drawingOf } from '../../../graph/drawn.ts';
import { TextLink } from '../../../parts/links.tsx';
import { LoadingRows } from '../../../parts/loading.tsx';
import { Page } from '../../../parts/page.tsx';
import { changeDraft, draftOf, freeBranch } from './draft.ts';
import { DraftBar } from '../publishing/draft-bar.tsx';
import { EditorCanvas, type Selection } from './editor-canvas.tsx';
import { EditorToolbar } from './editor-toolbar.tsx';
import { InputPanel } from '../input-panel.tsx';
import { JsonPanel } from './json-panel.tsx';
import { MistakeList } from '../mistakes/mistake-list.tsx';
import type { Mistake } from '../mistakes/mistakes.ts';
import { fieldAt } from './node-fields.ts';
import { SelectionPanel } from './selection-panel.tsx';
import { useDraftPlaces } from './use-draft-places.ts';
import { useFieldFocus } from './use-field-focus.ts';
import { useLeaveGuard } from './use-leave-guard.ts';
import { useMistakes } from '../mistakes/use-mistakes.ts';
import { contentOf, useSaving } from '../publishing/use-saving.tsx';
import { useUndoKeys } from './use-undo-keys.ts';

const NOTHING: Selection = { nodes: [], edges: [] };
const NO_MISTAKES: readonly Mistake[] = [];

/** The draft, its selection and view state, and the actions on it. */
function useEditor(workflow: Workflow, saved: WorkflowDraft | null) {
  const first = contentOf(saved ?? workflow);
  const [draft, change] = useReducer(changeDraft, first.graph, draftOf);
  const { graph } = draft;
  const [selection, setSelection] = useState(NOTHING);
  const [panel, setPanel] = useState<string | null>('chosen');
  const drawing = useMemo(() => drawingOf(graph), [graph]);
  const places = useDraftPlaces(drawing);
  const [inputSchema, setInputSchema] = useState(first.inputSchema);
  const { mistakes, tools } = useMistakes(graph, inputSchema);
  const side = useRef<HTMLDivElement>(null);
  const { focused, focusField } = useFieldFocus(side);
  const saving = useSaving({ workflow, draft: saved }, { graph, inputSchema }, (loaded) => {
    change({ type: 'load', graph: loaded.graph });
    setInputSchema(loaded.inputSchema);
  });
  useLeaveGuard(saving.unsaved);
  useUndoKeys(change, saving.save);

  const choose = useCallback(
    (next: Selection, field?: string): void => {
      setSelection(next);
      setPanel('chosen');
      focusField(field);
    },
    [focusField],
  );
  const edgeIndexes = (ids: readonly string[]): number[] =>
    drawing.edges.filter(({ id }) => ids.includes(id)).map(({ at }) => at);
  const connect = (source: string, target: string): void =>
    change({ type: 'connect', source, target, branch: freeBranch(graph, source) });
  return {
    saving,
    draft,
    drawing,
    places,
    selection,
    change,
    choose,
    mistakes,
    setSelection,
    setPanel,
    connect,
    edgeIndexes,
    graph,
    inputSchema,
    setInputSchema,
    side,
    panel,
    tools,
    focused,
  };
}

type EditorState = ReturnType<typeof useEditor>;

/** The editor of one workflow: the drawing, and beside it the selection, the mistakes, the input and the JSON. */
export function EditorBench({
  workflow,
  saved,
}: {
  workflow: Workflow;
  saved: WorkflowDraft | null;
}) {
  const state = useEditor(workflow, saved);
  const { saving, draft, drawing, places, selection, change, choose, side } = state;

  return (
    <Page
      title={`Edit ${workflow.name}`}
      about={
        <TextLink to="/workflows/$workflowId" params={{ workflowId: workflow.id }}>
          Back to workflow
        </TextLink>
      }
      wide
    >
      {saving.conflict}
      <DraftBar
        workflow={workflow}
        draft={saved}
        content={{ graph: state.graph, inputSchema: state.inputSchema }}
        saving={saving}
      />
      <EditorToolbar
        draft={draft}
        drawing={drawing}
        places={places}
        selected={selection.nodes.length === 1 ? selection.nodes[0] : undefined}
        change={change}
        onAdded={(id) => choose({ nodes: [id], edges: [] }, 'id')}
        saving={saving}
      />
      <Group align="flex-start" gap="md" wrap="wrap">
        <EditorDrawing {...state} />
        {/* The drawing ignores its delete key for elements that have the focus here. */}
        <Box flex="2 1 320px" miw={0} maw="100%" ref={side} className="nokey">
          <EditorPanels {...state} />
        </Box>
      </Group>
    </Page>
  );
}

function EditorPanels({
  panel,
  setPanel,
  mistakes,
  graph,
  inputSchema,
  setInputSchema,
  drawing,
  selection,
  tools,
  focused,
  change,
  choose,
}: EditorState) {
  return (
    <Tabs value={panel} onChange={setPanel} keepMounted={false}>
      <Tabs.List mb="sm">
        <Tabs.Tab value="chosen">Selection</Tabs.Tab>
        <Tabs.Tab value="mistakes">{tabWords(mistakes)}</Tabs.Tab>
        <Tabs.Tab value="input">Input</Tabs.Tab>
        <Tabs.Tab value="json">JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="chosen">
        <SelectionPanel
          graph={graph}
          drawing={drawing}
          selection={selection}
          mistakes={mistakes ?? NO_MISTAKES}
          tools={tools}
          focused={focused}
          change={change}
          onChoose={choose}
        />
      </Tabs.Panel>
      <Tabs.Panel value="mistakes">
        <MistakeList
          mistakes={mistakes}
          onChoose={(mistake) => {
            const target = targetOf(mistake, drawing);
            if (target === undefined) setPanel('json');
            else choose(target.selection, target.field);
          }}
        />
      </Tabs.Panel>
      <Tabs.Panel value="input">
        <InputPanel graph={graph} schema={inputSchema} onChange={setInputSchema} />
      </Tabs.Panel>
      <Tabs.Panel value="json">
        <JsonPanel graph={graph} change={change} />
      </Tabs.Panel>
    </Tabs>
  );
}

function EditorDrawing({
  places,
  drawing,
  mistakes,
  selection,
  setSelection,
  setPanel,
  change,
  connect,
  edgeIndexes,
  graph,
}: EditorState) {
  return (
    <Box
      flex="3 1 420px"
      miw={0}
      w="100%"
      // If there is room for both, the drawing stays in view while long forms scroll.
      pos={{ base: 'static', lg: 'sticky' }}
      top={72}
    >
      {places === undefined ? (
        <LoadingRows />
      ) : (
        <EditorCanvas
          drawing={drawing}
          places={places}
          mistakes={mistakes ?? NO_MISTAKES}
          selection={selection}
          onSelect={(next) => {
            setSelection(next);
            setPanel('chosen');
          }}
          onPlace={(moved) => change({ type: 'place', places: new Map([...places, ...moved]) })}
          onConnect={connect}
          onRemove={({ nodes, edges }) =>
            change({ type: 'remove', nodes, edges: edgeIndexes(edges) })
          }
          height="min(68vh, 760px)"
        />
      )}
      <HiddenParts hidden={graph.nodes.length - drawing.nodes.length} />
    </Box>
  );
}

const tabWords = (mistakes: readonly Mistake[] | undefined): string =>
  mistakes === undefined || mistakes.length === 0 ? 'Check' : `Check (${mistakes.length})`;

function HiddenParts({ hidden }: { hidden: number }) {
  if (hidden === 0) return null;
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {hidden} {hidden === 1 ? 'node is' : 'nodes are'} not shown: the ID is missing or duplicated,
      or the kind is unknown. Fix {hidden === 1 ? 'it' : 'them'} in the JSON tab.
    </Text>
  );
}

/** The node or edge of a mistake in the drawing; undefined if it is not drawn. */
function targetOf(
  { nodeId, edge: at, path }: Mistake,
  { nodes, edges }: Drawing,
): { selection: Selection; field: string | undefined } | undefined {
  const edge = edges.find((each) => each.at === at);
  if (edge !== undefined) return { selection: { nodes: [], edges: [edge.id] }, field: 'edges' };
  const node = nodes.find(({ id }) => id === nodeId);
  if (node === undefined) return undefined;
  return { selection: { nodes: [node.id], edges: [] }, field: fieldAt(path, node.kind) ?? 'id' };
}
