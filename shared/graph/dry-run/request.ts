import type { DryRunNode } from '#shared/contract/workflows/dry-run.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { Bounds } from './bounds.ts';

/** A graph to examine, with its workflow. */
export interface ExaminedGraph {
  workflowId: string;
  graph: Graph;
  /** The cap on a run's cost, in micro-dollars; null without a cap. */
  capMicros: number | null;
  /** Whether the cap can be exceeded by less than one step. */
  oneStep?: boolean;
}

/** A workflow that a node calls. Without a graph it cannot run, so every call of it fails. */
export interface CalledGraph extends Omit<ExaminedGraph, 'graph'> {
  name: string;
  graph?: Graph;
}

/** What determines how long calls of a custom tool can take, and what they reach. */
export interface CustomToolFacts {
  timeoutSeconds: number;
  /** Whether it is code, which calls nothing. */
  isCode?: boolean;
  attempts: number;
  host: string;
  /** Someone who may publish has confirmed that its calls change nothing. */
  readOnly: boolean;
  /** The size of its description and schema. */
  bytes: number;
  /** Names of the secrets in its headers, and of its connections. */
  secrets: string[];
  connections?: string[];
}

export interface DryRunRequest extends ExaminedGraph {
  /** Undefined: any input. */
  input?: JsonObject | undefined;
  /** The workspace's policies as JSON. */
  policies: string;
  prices: PriceOverrides;
  /** By name, without `custom:`. */
  customTools: Record<string, CustomToolFacts>;
  /** The workflows that it calls, directly or indirectly, by `callKey`. One that is missing counts as unknown. */
  called: Record<string, CalledGraph>;
}

/** A gate, or an agent whose calls need approval, that a run can reach. */
export interface ReachableGate {
  node_id: string;
  /** The workflow that contains the gate, if it is one that the node starts. */
  workflow?: { id: string; name: string };
  settings: GateSettings;
}

/** A connection whose token a node sends. */
export interface UsedConnection {
  node_id: string;
  /** The workflow that contains the node, if it is one that `node_id` starts. */
  workflow?: { id: string; name: string };
  name: string;
  /** Whether the step acts as its approver. */
  asApprover: boolean;
}

/** What a run can do, with minimum and maximum values. Money is in micro-dollars. */
export interface DryRunAnalysis {
  cost: Bounds;
  /** In ms. */
  duration: Bounds;
  unbounded: string[];
  nodes: (Pick<DryRunNode, 'node_id' | 'verdicts' | 'executions'> & { cost: Bounds })[];
  gates: ReachableGate[];
  hosts: string[];
  secrets: string[];
  connections: UsedConnection[];
  /** Ids of the workflows that a run can start. */
  workflows: string[];
}
