import type { ExecutedNode } from '#shared/graph/kinds.ts';
import type { TurnRunner } from './model-turn.ts';
import type { NodeRunner } from './node.ts';

/** The runner of each executed kind, and of the turns of agents with tools. */
export type NodeRunners = {
  readonly [Kind in ExecutedNode['kind']]: NodeRunner<Extract<ExecutedNode, { kind: Kind }>>;
} & { readonly turn: TurnRunner };
