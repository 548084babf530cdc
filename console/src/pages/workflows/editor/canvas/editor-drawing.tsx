import { Button, NativeSelect, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useCallback, useRef, useState } from 'react';
import type { Pin } from '#client/index.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { FindNode, useFindKey } from '#console/src/graph/find-node.tsx';
import { type PortId, portName, portOf, portsOfKind } from '#console/src/graph/ports.ts';
import { LoadingRows } from '#console/src/parts/loading.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { pinsQuery } from '#console/src/queries/node-tests.ts';
import type { Mistake } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import type { Place } from '#console/src/graph/places.ts';
import { editorDrawing as text } from '#console/src/messages/en/workflows/canvas.ts';
import { mainFields } from '#console/src/pages/workflows/editor/node-fields.ts';
import { CanvasMenu, type MenuAt } from './canvas-menu.tsx';
import { EditorCanvas } from './editor-canvas.tsx';
import type { Selection } from '#console/src/pages/workflows/editor/selection.ts';
import { Palette, type PaletteItem } from './palette.tsx';
import { type CanvasActions, useCanvasActions } from './use-canvas-actions.ts';
import { type Adding, freeBranch } from '#console/src/pages/workflows/editor/draft.ts';
import { useCanvasKeys } from './use-canvas-keys.ts';
import { useRunCards } from '#console/src/pages/workflows/editor/run/run-cards.tsx';
import type { EditorState } from '#console/src/pages/workflows/editor/use-editor.ts';

const NO_MISTAKES: readonly Mistake[] = [];
const NO_PINS: readonly Pin[] = [];

/** The drawing of the draft, with the state of its last run, the palette and the context menu. */
export function EditorDrawing({ state, workflowId }: { state: EditorState; workflowId: string }) {
  const { drawing, graph, adding, setAdding, setFinding, selection } = state;
  const { data: pins } = useQuery(pinsQuery(workflowId));
  const { cards: runCards, noteOf } = useRunCards(state.draftRun.run);
  const box = useRef<HTMLDivElement>(null);
  const [menu, setMenu] = useState<MenuAt>();
  const actions = useCanvasActions(state);
  const focusCard = useCardFocus(box);
  const openPalette = (): void => setAdding({ after: onlyOf(selection.nodes) });
  const onTest = useTest(state);
  const only = onlyOf(selection.nodes);
  const test = onTest && only !== undefined ? () => onTest(only) : undefined;
  useCanvasKeys(box, actions, { openPalette, test: () => test?.() });
  useFindKey(() => setFinding(true));
  const edits = useDrawingEdits(state, actions, focusCard);
  return (
    <div className="editor-drawing" ref={box}>
      {state.places === undefined ? (
        <LoadingRows />
      ) : (
        <EditorCanvas
          drawing={drawing}
          places={state.places}
          mistakes={state.checked.mistakes ?? NO_MISTAKES}
          selection={selection}
          pins={pins ?? NO_PINS}
          runCards={runCards}
          noteOf={noteOf}
          view={state.view}
          onConnect={state.connect}
          onAdd={setAdding}
          onTest={onTest}
          onMenu={setMenu}
          {...edits}
        />
      )}
      {graph.nodes.length === 0 && adding === undefined && (
        <div className="editor-first">
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={openPalette}>
            {text.addFirst}
          </Button>
          <Text size="sm" c="dimmed">
            {text.orByKey}
          </Text>
        </div>
      )}
      {state.finding && <Finding state={state} focusCard={focusCard} />}
      <AddingPalette state={state} actions={actions} focusCard={focusCard} />
      <CanvasMenu
        at={menu}
        onClose={() => setMenu(undefined)}
        actions={{
          add: openPalette,
          ports: portChoices(drawing, onlyOf(selection.nodes)),
          addFrom: (port) => setAdding({ after: onlyOf(selection.nodes), port }),
          insert: () => setAdding({ into: edgeIndex(drawing, selection.edges[0]) }),
          test,
          copy: actions.copy,
          paste: () => actions.paste(undefined),
          duplicate: actions.duplicate,
          selectAll: actions.selectAll,
          remove: actions.remove,
          canPaste: actions.canPaste(),
        }}
      />
      <HiddenParts hidden={graph.nodes.length - drawing.nodes.length} />
    </div>
  );
}

/** Tests a node in its panel. Undefined without the permission. */
function useTest({ choose, setToTest }: EditorState): ((nodeId: string) => void) | undefined {
  const mayRun = useMay('run_workflows');
  const onTest = useCallback(
    (id: string): void => {
      choose({ nodes: [id], edges: [] });
      setToTest(id);
    },
    [choose, setToTest],
  );
  return mayRun ? onTest : undefined;
}

/** Changes of the draft that are made in the drawing. */
function useDrawingEdits(
  { drawing, places, change, setSelection, setPanel, choose }: EditorState,
  actions: CanvasActions,
  focusCard: (id: string) => void,
) {
  const onSelect = useCallback(
    (next: (current: Selection) => Selection) => {
      setSelection(next);
      setPanel('chosen');
    },
    [setSelection, setPanel],
  );
  const onPlace = useCallback(
    (moved: ReadonlyMap<string, Place>) =>
      change({ type: 'place', places: new Map([...(places ?? []), ...moved]) }),
    [change, places],
  );
  const onRemove = useCallback(
    ({ nodes, edges }: Selection) => {
      const removed = drawing.edges.filter(({ id }) => edges.includes(id)).map(({ at }) => at);
      change({ type: 'remove', nodes, edges: removed });
    },
    [change, drawing.edges],
  );
  const onOpen = useCallback(
    (id: string) => {
      const kind = drawing.nodes.find((node) => node.id === id)?.kind;
      const first = kind === undefined ? undefined : mainFields[kind][0]?.name;
      choose({ nodes: [id], edges: [] }, first ?? 'id');
    },
    [choose, drawing.nodes],
  );
  const onDropItem = useCallback(
    (item: PaletteItem, position: Place) => focusCard(actions.add(item, { position })),
    [actions, focusCard],
  );
  return { onSelect, onPlace, onRemove, onOpen, onDropItem };
}

/** The search for a node, while it is open. It selects the node and moves the view to it. */
function Finding({
  state: { drawing, choose, setFinding, setView },
  focusCard,
}: {
  state: EditorState;
  focusCard: (id: string) => void;
}) {
  return (
    <div className="editor-find">
      <FindNode
        nodes={drawing.nodes}
        selected={undefined}
        autoFocus
        onSelect={(id) => {
          setFinding(false);
          if (id === undefined) return;
          choose({ nodes: [id], edges: [] });
          setView({ type: 'node', id });
          focusCard(id);
        }}
        onClose={() => setFinding(false)}
      />
    </div>
  );
}

/** The palette, while a node is being added. Afterward, the new card has the focus. */
function AddingPalette({
  state: { adding, setAdding, checked, drawing, graph },
  actions,
  focusCard,
}: {
  state: EditorState;
  actions: CanvasActions;
  focusCard: (id: string) => void;
}) {
  if (adding === undefined) return null;
  return (
    <Palette
      tools={checked.tools}
      about={aboutOf(drawing, adding)}
      at={adding.at}
      ports={<PortChoice {...{ graph, drawing, adding, setAdding }} />}
      onPick={(item) => {
        setAdding(undefined);
        focusCard(actions.add(item, adding));
      }}
      onClose={() => {
        setAdding(undefined);
        if (adding.after !== undefined) focusCard(adding.after);
      }}
    />
  );
}

/** The ports of a node that a new one can be connected to. */
function portChoices({ nodes }: Drawing, nodeId: string | undefined) {
  const kind = nodes.find(({ id }) => id === nodeId)?.kind;
  if (kind === undefined) return [];
  return portsOfKind(kind).map((id) => ({ id, name: portName(kind, id) }));
}

/** Which port of the node before it a new node is connected to, if there are several. */
function PortChoice({
  graph,
  drawing,
  adding,
  setAdding,
}: Pick<EditorState, 'graph' | 'drawing' | 'setAdding'> & { adding: Adding }) {
  const { after, port } = adding;
  const kind = drawing.nodes.find(({ id }) => id === after)?.kind;
  const ports = portChoices(drawing, after);
  if (after === undefined || kind === undefined || ports.length < 2) return null;
  return (
    <NativeSelect
      size="xs"
      mb={6}
      label={text.port}
      data={ports.map(({ id, name }) => ({ value: id, label: name }))}
      value={port ?? portOf(kind, freeBranch(graph, after))}
      onChange={(event) => setAdding({ ...adding, port: event.currentTarget.value as PortId })}
    />
  );
}

/** Where a new node goes, in words. */
function aboutOf({ nodes, edges }: Drawing, { after, before, into }: Adding): string | undefined {
  const labelOf = (id: string | undefined): string =>
    nodes.find((node) => node.id === id)?.label ?? '';
  const edge = edges.find(({ at }) => at === into);
  if (edge !== undefined) {
    return text.insertsBetween(labelOf(edge.source), labelOf(edge.target));
  }
  if (after !== undefined) return text.connectsAfter(labelOf(after));
  return before === undefined ? undefined : text.connectsBefore(labelOf(before));
}

const onlyOf = (ids: readonly string[]): string | undefined =>
  ids.length === 1 ? ids[0] : undefined;

const edgeIndex = ({ edges }: Drawing, id: string | undefined): number | undefined =>
  edges.find((edge) => edge.id === id)?.at;

const FOCUS_WITHIN_FRAMES = 60;

/** Returns a function that focuses a card once it is drawn. */
function useCardFocus(box: RefObject<HTMLElement | null>): (id: string) => void {
  return useCallback(
    (id) => {
      const look = (left: number): void => {
        const card = box.current?.querySelector<HTMLElement>(
          `.react-flow__node[data-id="${CSS.escape(id)}"]`,
        );
        if (card != null) card.focus({ preventScroll: true });
        else if (left > 0) requestAnimationFrame(() => look(left - 1));
      };
      requestAnimationFrame(() => look(FOCUS_WITHIN_FRAMES));
    },
    [box],
  );
}

function HiddenParts({ hidden }: { hidden: number }) {
  if (hidden === 0) return null;
  return (
    <Text size="sm" c="dimmed" px="md" py={4}>
      {text.hidden(hidden)}
    </Text>
  );
}
