import type { GraphNode, NodeKind, WaitNode } from '#shared/contract/workflows/graph.ts';
import type { NodeRetry } from '#shared/contract/workflows/node-common.ts';

/**
 * What the engine needs to know about every kind of node. To add a kind, start here: the compiler then reports the
 * places that must handle it.
 */
interface CommonTraits {
  /** Its edges can have a `condition_value`: its result selects the edges to follow. */
  branches: boolean;
  /** Its output can be stored under `output_key`. */
  hasOutputKey: boolean;
  /** It can have error edges, because it does work that can fail. */
  canFail: boolean;
  /** It repeats a body: the nodes from its 'true' edges up to the back edges. */
  repeats: boolean;
}

type KindTraits = CommonTraits &
  (
    | {
        /** It runs as attempts of an activity. */
        flow: 'executed';
        /** The default timeout of an attempt. */
        timeoutSeconds: number;
      }
    | {
        /**
         * `computed`: the scheduler computes the result in place. `waiting`: a person provides it. `child`: a child run
         * provides it. `timed`: a time, an event or a callback provides it.
         */
        flow: 'computed' | 'waiting' | 'child' | 'timed';
      }
  );

const traits = {
  agent: {
    flow: 'executed',
    branches: false,
    hasOutputKey: true,
    canFail: true,
    repeats: false,
    timeoutSeconds: 600,
  },
  tool: {
    flow: 'executed',
    branches: false,
    hasOutputKey: true,
    canFail: true,
    repeats: false,
    timeoutSeconds: 60,
  },
  code: {
    flow: 'executed',
    branches: false,
    hasOutputKey: true,
    canFail: true,
    repeats: false,
    timeoutSeconds: 2,
  },
  condition: {
    flow: 'computed',
    branches: true,
    hasOutputKey: false,
    canFail: false,
    repeats: false,
  },
  loop: { flow: 'computed', branches: true, hasOutputKey: false, canFail: false, repeats: true },
  map: { flow: 'computed', branches: true, hasOutputKey: true, canFail: true, repeats: true },
  workflow: { flow: 'child', branches: false, hasOutputKey: true, canFail: true, repeats: false },
  human_gate: {
    flow: 'waiting',
    branches: true,
    hasOutputKey: false,
    canFail: true,
    repeats: false,
  },
  wait: { flow: 'timed', branches: true, hasOutputKey: true, canFail: true, repeats: false },
  merge: { flow: 'computed', branches: false, hasOutputKey: false, canFail: false, repeats: false },
} as const satisfies Record<NodeKind, KindTraits>;

type Traits = typeof traits;
type KindWith<Trait> = { [K in NodeKind]: Traits[K] extends Trait ? K : never }[NodeKind];
type NodeWith<Trait> = Extract<GraphNode, { kind: KindWith<Trait> }>;

export type ExecutedNode = NodeWith<{ flow: 'executed' }>;
export type WaitingNode = NodeWith<{ flow: 'waiting' }>;
export type ChildNode = NodeWith<{ flow: 'child' }>;
/** The kinds that the scheduler does not compute itself: something outside provides their result. */
export type AwaitedNode = NodeWith<{ flow: 'executed' | 'waiting' | 'child' | 'timed' }>;
type BranchingNode = NodeWith<{ branches: true }>;
type KeyedNode = NodeWith<{ hasOutputKey: true }>;

/** In display order. */
export const nodeKinds = Object.keys(traits) as [NodeKind, ...NodeKind[]];
/** The kinds whose results come from outside the graph, and are stored in the ledger. */
export const resultKinds = nodeKinds.filter((kind) =>
  ['executed', 'child', 'timed'].includes(traits[kind].flow),
);

export const branchingKinds = nodeKinds.filter((kind) => traits[kind].branches);
export const failingKinds = nodeKinds.filter((kind) => traits[kind].canFail);

export const isExecuted = (node: GraphNode): node is ExecutedNode =>
  traits[node.kind].flow === 'executed';
export const isWaiting = (node: GraphNode): node is WaitingNode =>
  traits[node.kind].flow === 'waiting';
export const isChild = (node: GraphNode): node is ChildNode => traits[node.kind].flow === 'child';
export const isWait = (node: GraphNode): node is WaitNode => traits[node.kind].flow === 'timed';
export const isAwaited = (node: GraphNode): node is AwaitedNode =>
  traits[node.kind].flow !== 'computed';
export const isBranching = (node: GraphNode): node is BranchingNode => traits[node.kind].branches;
export const canFail = ({ kind }: GraphNode): boolean => traits[kind].canFail;
/** Whether the scheduler computes the node in place. */
export const isComputed = ({ kind }: Pick<GraphNode, 'kind'>): boolean =>
  traits[kind].flow === 'computed';
/** Whether the kind is a loop or a map. */
export const repeats = ({ kind }: Pick<GraphNode, 'kind'>): boolean => traits[kind].repeats;
export const hasOutputKey = (node: GraphNode): node is KeyedNode => traits[node.kind].hasOutputKey;

/** The default timeout of an attempt, in seconds. */
export const defaultTimeoutSeconds = ({ kind }: ExecutedNode): number =>
  traits[kind].timeoutSeconds;

/** Temporal treats a pause of 0, or of a fraction of a millisecond, as the end of all retries. */
const MIN_BACKOFF_MS = 1;
const MAX_BACKOFF_MS = 3_600_000;

/** The pause before the next try, in ms, after this many failed ones. */
export function retryDelayMs(retry: NodeRetry | undefined, failed: number): number {
  const { initial_interval_seconds = 1, backoff = 2 } = retry ?? {};
  const pause = initial_interval_seconds * 1000 * backoff ** (failed - 1);
  return Math.min(MAX_BACKOFF_MS, Math.max(MIN_BACKOFF_MS, pause));
}
