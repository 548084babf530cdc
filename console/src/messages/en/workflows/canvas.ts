import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { plural } from '#console/src/messages/format.ts';

/** Messages for the drawing of a draft. */
export const editorCanvas = {
  title: 'Graph editor',
  edge: (source: string, target: string) => `Edge from ${source} to ${target}`,
  pinned: 'pinned',
} as const;

/** Messages around the drawing of a draft. */
export const editorDrawing = {
  insertsBetween: (source: string, target: string) => `Inserts between ${source} and ${target}`,
  connectsAfter: (node: string) => `Connects after ${node}`,
  port: 'From',
  addFirst: 'Add the first node',
  orByKey: 'or press /',
  connectsBefore: (node: string) => `Connects before ${node}`,
  hidden: (count: number) =>
    plural(count, {
      one: '# node is not shown: the ID is missing or duplicated, or the kind is unknown. Fix it in the JSON tab.',
      other:
        '# nodes are not shown: the ID is missing or duplicated, or the kind is unknown. Fix them in the JSON tab.',
    }),
} as const;

/** Messages for the context menu of the drawing, with the keys of its actions. */
export const canvasMenu = {
  target: 'Actions of the canvas',
  addNode: 'Add node',
  addNodeAfter: 'Add node after',
  addNodeFrom: (port: string) => `Add node: ${port}`,
  test: 'Test this node',
  insertNode: 'Insert node',
  paste: 'Paste',
  deleteEdge: 'Delete edge',
  duplicate: 'Duplicate',
  selectAll: 'Select all',
  keys: {
    add: '/',
    test: 'T',
    copy: 'Ctrl C',
    paste: 'Ctrl V',
    duplicate: 'Ctrl D',
    selectAll: 'Ctrl A',
    delete: 'Del',
  },
} as const;

/** Messages for the palette of nodes. */
export const palette = {
  title: 'Add a node',
  nodeToAdd: 'Node to add',
  filter: 'Type to filter',
  close: 'Close the palette',
  nodes: 'Nodes',
  nothingFound: 'Nothing found',
} as const;

/** What nodes of each kind do. */
export const kindAbout = {
  agent: 'Asks a model',
  tool: 'Calls a tool',
  code: 'Computes with a function',
  condition: 'Takes one of two branches',
  loop: 'Repeats its body while true',
  map: 'Runs its body for each item of a list',
  workflow: 'Runs another workflow',
  human_gate: 'Waits for a person',
  wait: 'Waits for a time, an event or a callback',
  merge: 'Joins branches',
} as const satisfies Record<NodeKind, string>;
