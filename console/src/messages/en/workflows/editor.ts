import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of the editor. */
export const editorPage = {
  title: 'Editor',
  missingPermission: 'You need the create_edit_workflows permission to edit workflows.',
} as const;

/** Messages around the drawing and its panels. */
export const editorBench = {
  pageTitle: (name: string) => `Edit ${name} · Workflows`,
  title: (name: string) => `Edit ${name}`,
  back: 'Back to workflow',
  kept: {
    title: 'You have unsaved changes',
    about: 'You made them in this tab {ago}, and they were not saved.',
    restore: 'Restore changes',
    discard: 'Discard changes',
  },
} as const;

/** Messages for the actions on a draft. */
export const editorToolbar = {
  title: 'Editing',
  undo: 'Undo',
  redo: 'Redo',
  save: 'Save',
  saved: 'Saved',
  unsaved: 'Unsaved changes',
  addNode: 'Add node',
  addNodeKey: 'Press / on the canvas',
  layOut: 'Arrange',
  find: 'Find node',
  keys: {
    undo: 'Ctrl Z',
    redo: 'Ctrl Shift Z',
    find: 'Ctrl F',
    save: 'Ctrl S',
  },
} as const;

/** Messages for the tabs beside the drawing. */
export const editorPanels = {
  selection: 'Selection',
  schema: 'Schema',
  json: 'JSON',
  check: 'Check',
  checkWithMistakes: (count: string) => `Check (${count})`,
} as const;

/** Messages for the panel of the selection. */
export const selectionPanel = {
  nothing:
    'Select a node or an edge in the graph, or add a node. To connect two nodes, drag from the right side of one to the left side of the other. Press Delete to remove the selection.',
  edge: 'Edge',
  several: 'Multiple selection',
  none: 'No selection',
  selected: (nodes: number, edges: number) =>
    `${plural(nodes, { one: '# node', other: '# nodes' })} and ${plural(edges, { one: '# edge', other: '# edges' })} selected.`,
  delete: 'Delete selection',
} as const;

/** Messages for the form of a node. */
export const nodeForm = {
  label: 'Label',
  labelAbout: 'Display name. Default: the node ID.',
  id: 'ID',
  idAbout: 'Used in prompts and expressions',
  idTaken: 'Another node already has this ID',
} as const;

/** Messages for the parts of the panel of a node. */
export const nodePanel = {
  parts: 'Parts of the node',
  settings: 'Settings',
  test: 'Test',
  noRuns: 'Run the workflow once, or edit the state under “Input”: tests start with it.',
  pin: 'Pin output',
  unpin: 'Unpin',
  more: 'More actions for the node',
  delete: 'Delete node',
  noState: 'Run the workflow once to see the state that this node starts with.',
  editState: 'Edit state',
  stateAbout: 'Tests of this node and the values of its fields use your changes. Nothing is saved.',
  wholeState: 'No run has a state for this node. Write the one that its tests start with.',
  stateChanged: 'With your changes.',
  discardState: 'Discard changes',
  insertAbout: 'Click a value to insert it into the field that you edited last.',
  insertOrDrag: 'Click a value to insert it into the field that you edited last, or drag it there.',
  theState: 'the state before the node',
  savedFirst: 'A test saves your changes first.',
  pinned: 'Pinned output',
  pinnedAt: 'Tests of other nodes use it. Pinned {when}.',
  pinEditedAt: 'Tests of other nodes use it. Edited and pinned {when}.',
  editPin: 'Edit output',
  savePin: 'Pin edited output',
  noPin: 'Enter a JSON value, such as null',
  thePinned: 'the pinned output',
  ofRun: 'Output in the run',
  theOutput: 'the output of the node',
  width: 'Width of the panel',
} as const;

/** Messages for the edges of a node. */
export const edgeFields = {
  title: 'Connections',
  empty: 'No connections yet',
  arrow: 'to',
  branchOf: (source: string, target: string) => `Branch of ${source} to ${target}`,
  delete: (source: string, target: string) => `Delete edge ${source} to ${target}`,
  connectTo: 'Connect to',
  selectNode: 'Select a node',
  branch: 'Branch',
  connect: 'Connect',
} as const;

/** Messages for the graph as JSON. */
export const jsonPanel = {
  label: 'Graph as JSON',
  about: 'The graph updates once the JSON is valid.',
  notAGraph: 'A graph is an object with the lists `nodes` and `edges`. The graph has not changed.',
} as const;

/** Messages for the form that runs a draft. */
export const runForm = {
  title: 'Run this draft',
  problems: 'Problems of this draft',
  savedFirst: 'Your changes are saved first.',
  isReal: 'The run is real, with its costs and effects.',
  estimate: 'Save and estimate',
  estimateAbout: 'What it would cost and need',
} as const;

/** Messages for the last run of the editor. */
export const runPanel = {
  ofRun: 'In this run',
  none: 'No run yet. Press “Run” to run what you have drawn; each node then shows its state, output and cost.',
  theRunOutput: 'the output of the run',
  stop: 'Stop',
  runAgain: 'Run again',
  openRun: 'Open run',
  ofNode: 'What this node did in the run',
  openStep: 'Open step',
} as const;

/** Messages for the last run on the cards of nodes. */
export const runCards = {
  times: (count: number) => plural(count, { other: '# times' }),
} as const;
