import type { EvaluationCheck, GraphInput } from '../../shared/contract/graph.ts';
import type { RunStatus } from '../../shared/contract/run.ts';
import type { JsonObject } from '../../shared/json.ts';

/** A workflow that a new installation starts with, and the runs that show what it does. */
export interface Example {
  /** Examples are looked up by it, so it has to stay the same from release to release. */
  name: string;
  description: string;
  graph: GraphInput;
  checks: EvaluationCheck[];
  runs: ExampleRun[];
}

export interface ExampleRun {
  /** Idempotency-Key: the same on every start, so that one run comes of many. Goes with the input: change both. */
  key: string;
  input: JsonObject;
  /** Where it comes to rest. */
  ends: Extract<RunStatus, 'success' | 'failed' | 'paused'>;
}

/** Distance between the columns and rows that the graphs are drawn on. */
const COLUMN = 260;
const ROW = 130;

export const at = (column: number, row: number) => ({
  position: { x: column * COLUMN, y: row * ROW },
});
