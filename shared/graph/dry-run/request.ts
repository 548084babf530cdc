import type { DryRunNode } from '#shared/contract/workflows/dry-run.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { Bounds } from './bounds.ts';

/** A graph to examine, with the workflow that it belongs to. */
export interface ExaminedGraph {
  workflowId: string;
  graph: Graph;
  /** What a run may cost, in micro-dollars; null without a cap. */
  capMicros: number | null;
  /** Whether the cap may be exceeded by less than one step. */
  oneStep?: boolean;
}

/** A workflow that a node calls. Without a graph it cannot run, so that each call of it fails. */
export interface CalledGraph extends Omit<ExaminedGraph, 'graph'> {
  name: string;
  graph?: Graph;
}

/** The facts of a custom tool that decide how long its calls can take, and what they reach. */
export interface CustomToolFacts {
  timeoutSeconds: number;
  attempts: number;
  host: string;
  /** Of its description and its schema. */
  bytes: number;
  /** Names of the secrets in its headers. */
  secrets: string[];
}

export interface DryRunRequest extends ExaminedGraph {
  /** Undefined: any input. */
  input?: JsonObject | undefined;
  /** The policies of the workspace as JSON. */
  policies: string;
  prices: PriceOverrides;
  /** By name, without `custom:`. */
  customTools: Record<string, CustomToolFacts>;
  /** The workflows that it calls, and those that they call, by `callKey`. One that is missing is not known. */
  called: Record<string, CalledGraph>;
}

/** A gate, or an agent whose calls need approval, that a run can reach. */
export interface ReachableGate {
  node_id: string;
  /** The workflow that has the gate, when another one that the node starts has it. */
  workflow?: { id: string; name: string };
  settings: GateSettings;
}

/** What a run can do, at least and at most. Money is in micro-dollars. */
export interface DryRunAnalysis {
  cost: Bounds;
  /** In ms. */
  duration: Bounds;
  unbounded: string[];
  nodes: (Pick<DryRunNode, 'node_id' | 'verdicts' | 'executions'> & { cost: Bounds })[];
  gates: ReachableGate[];
  hosts: string[];
  secrets: string[];
  /** Ids of the workflows that a run can start. */
  workflows: string[];
}
