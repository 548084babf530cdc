import type { EvaluationCheck, GraphInput } from '../contract/graph.ts';
import type { JsonObject } from '../json.ts';

/** A workflow to begin with that comes with the service. */
export interface BuiltInTemplate {
  /** Stays the same from release to release. */
  id: `tpl_${string}`;
  name: string;
  /** What it is for, what its input is made of, and what it shows. */
  description: string;
  graph: GraphInput;
  checks: EvaluationCheck[];
  /** Runs it to its end on the mock model, without a call to anything outside. */
  sampleInput: JsonObject;
}

/** Distance between the columns and rows that the graphs are drawn on. */
const COLUMN = 260;
const ROW = 130;

export const at = (column: number, row: number) => ({
  position: { x: column * COLUMN, y: row * ROW },
});
