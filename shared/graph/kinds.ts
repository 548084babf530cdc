import type { GraphNode, NodeKind } from '../contract/graph.ts';

/**
 * What the engine has to know of every kind of node, in one place. Who adds a kind begins here: the compiler then names
 * the places that have to know it.
 */
interface CommonTraits {
  /** Its edges may carry `condition_value`: it decides which of them are taken. */
  branches: boolean;
  /** Its output may be kept under a key of its own, `output_key`. */
  hasOutputKey: boolean;
}

type KindTraits = CommonTraits &
  (
    | {
        /** An attempt in an activity does its work. */
        flow: 'executed';
        /** What an attempt is given when the node sets nothing. */
        timeoutSeconds: number;
      }
    | {
        /** `computed`: settled on the spot by the scheduler. `waiting`: settled by somebody from outside. */
        flow: 'computed' | 'waiting';
      }
  );

const traits = {
  agent: { flow: 'executed', branches: false, hasOutputKey: true, timeoutSeconds: 600 },
  tool: { flow: 'executed', branches: false, hasOutputKey: true, timeoutSeconds: 60 },
  condition: { flow: 'computed', branches: true, hasOutputKey: false },
  loop: { flow: 'computed', branches: true, hasOutputKey: false },
  human_gate: { flow: 'waiting', branches: true, hasOutputKey: false },
  merge: { flow: 'computed', branches: false, hasOutputKey: false },
} as const satisfies Record<NodeKind, KindTraits>;

type Traits = typeof traits;
type KindWith<Trait> = { [K in NodeKind]: Traits[K] extends Trait ? K : never }[NodeKind];
type NodeWith<Trait> = Extract<GraphNode, { kind: KindWith<Trait> }>;

export type ExecutedNode = NodeWith<{ flow: 'executed' }>;
export type WaitingNode = NodeWith<{ flow: 'waiting' }>;
type BranchingNode = NodeWith<{ branches: true }>;
type KeyedNode = NodeWith<{ hasOutputKey: true }>;

/** In the order in which people see them. */
export const nodeKinds = Object.keys(traits) as [NodeKind, ...NodeKind[]];
export const executedKinds = nodeKinds.filter((kind) => traits[kind].flow === 'executed');

export const isExecuted = (node: GraphNode): node is ExecutedNode =>
  traits[node.kind].flow === 'executed';
export const isWaiting = (node: GraphNode): node is WaitingNode =>
  traits[node.kind].flow === 'waiting';
export const isBranching = (node: GraphNode): node is BranchingNode => traits[node.kind].branches;
export const hasOutputKey = (node: GraphNode): node is KeyedNode => traits[node.kind].hasOutputKey;

/** How long an attempt may take, in seconds, when its node sets nothing. */
export const defaultTimeoutSeconds = ({ kind }: ExecutedNode): number =>
  traits[kind].timeoutSeconds;
