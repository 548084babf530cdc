import { useEffect, useMemo, useRef } from 'react';
import { nodeSize } from '#console/src/graph/layout.ts';
import type { Place, Places } from '#console/src/graph/places.ts';
import { type Copied, copyOf, pasted } from '#console/src/pages/workflows/editor/copying/copies.ts';
import type { Adding, Addition } from '#console/src/pages/workflows/editor/draft.ts';
import { freeId } from '#console/src/pages/workflows/editor/ids.ts';
import type { EditorState } from '#console/src/pages/workflows/editor/use-editor.ts';
import type { PaletteItem } from './palette.tsx';
import { besides, GAP } from './use-draft-places.ts';

/** What was last copied in this tab, for pastes without clipboard text. */
let copied: Copied | undefined;

/** The actions on the drawing, for keys, menus and the palette. Each is one undo step. */
function createCanvasActions(current: () => EditorState) {
  const selectNodes = (ids: readonly string[]): void => {
    const { setSelection, setPanel } = current();
    setSelection({ nodes: ids, edges: [] });
    setPanel('chosen');
  };
  const copy = (): Copied | undefined => {
    const { graph, selection, places = NO_PLACES } = current();
    if (selection.nodes.length === 0) return undefined;
    copied = copyOf(graph, selection.nodes, places);
    return copied;
  };
  const paste = (from: Copied | undefined, at?: Place): void => {
    const { graph, change } = current();
    const wanted = from ?? copied;
    if (wanted === undefined) return;
    const { graph: next, ids } = pasted(graph, wanted, at);
    change({ type: 'replace', graph: next });
    selectNodes(ids);
  };
  return {
    copy,
    paste,
    canPaste: (): boolean => copied !== undefined,
    duplicate: (): void => {
      const { graph, selection, places = NO_PLACES } = current();
      if (selection.nodes.length > 0) paste(copyOf(graph, selection.nodes, places));
    },
    remove: (): void => {
      const { selection, drawing, change } = current();
      const edges = drawing.edges.filter(({ id }) => selection.edges.includes(id));
      change({ type: 'remove', nodes: selection.nodes, edges: edges.map(({ at }) => at) });
    },
    selectAll: (): void => selectNodes(current().drawing.nodes.map(({ id }) => id)),
    add: (item: PaletteItem, adding: Adding): string => added(current(), item, adding),
  };
}

export type CanvasActions = ReturnType<typeof createCanvasActions>;

const NO_PLACES: Places = new Map();

/** Adds a node, selects it, and returns its id. */
function added(state: EditorState, { kind, tool }: PaletteItem, adding: Adding): string {
  const { graph, change, setSelection, setPanel } = state;
  const id = freeId(graph, kind);
  const fields = tool === undefined ? undefined : { tool_name: tool, params: {} };
  change({ type: 'add', id, kind, fields, ...adding, ...placeFor(state, adding) });
  setSelection({ nodes: [id], edges: [] });
  setPanel('chosen');
  return id;
}

/**
 * Where a new node goes. If all nodes have a fixed position, the new one needs one, too; otherwise the graph is laid
 * out again.
 */
function placeFor(
  { drawing, places = NO_PLACES }: EditorState,
  { after, before, into, position }: Adding,
): Pick<Addition, 'position' | 'moved'> {
  const fixed = drawing.nodes.every((node) => node.position !== undefined);
  if (!fixed) return { position: undefined };
  if (position !== undefined) return { position };
  const edge = drawing.edges.find(({ at }) => at === into);
  const target = edge === undefined ? undefined : places.get(edge.target);
  if (edge === undefined || target === undefined) {
    const next = before === undefined ? undefined : places.get(before);
    if (next !== undefined) return { position: { x: next.x - nodeSize.width - GAP, y: next.y } };
    return { position: besides(places, after) };
  }
  const source = places.get(edge.source);
  const room = source === undefined ? 0 : target.x - source.x - nodeSize.width;
  if (room >= nodeSize.width + 2 * MARGIN || room < 0) {
    return { position: between(source ?? target, target) };
  }
  // There is no room between the two, so the nodes to the right move.
  const moved = [...places].flatMap(([id, { x, y }]) =>
    x >= target.x ? [[id, { x: x + nodeSize.width + GAP, y }] as const] : [],
  );
  return { position: target, moved: new Map(moved) };
}

/** Space on both sides of a card that is inserted into an edge. */
const MARGIN = 24;

const between = (a: Place, b: Place): Place => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

/** The actions. They stay the same object while the editor is open. */
export function useCanvasActions(state: EditorState): CanvasActions {
  const current = useRef(state);
  useEffect(() => {
    current.current = state;
  });
  return useMemo(() => createCanvasActions(() => current.current), []);
}
