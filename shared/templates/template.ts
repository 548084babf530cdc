import type { EvaluationCheck, GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';

/** A built-in workflow template. */
export interface BuiltInTemplate {
  /** Stable across releases. */
  id: `tpl_${string}`;
  name: string;
  /** Its purpose, its input, and what it demonstrates. */
  description: string;
  graph: GraphInput;
  /** Absent if any input is accepted. */
  inputSchema?: JsonObject;
  checks: EvaluationCheck[];
  /** Runs it to completion on the mock model, without any external call. */
  sampleInput: JsonObject;
}

/** Distance between the columns and rows of the drawn graphs. */
const COLUMN = 260;
const ROW = 130;

export const at = (column: number, row: number) => ({
  position: { x: column * COLUMN, y: row * ROW },
});

type AgentNodeInput = Extract<NonNullable<GraphInput['nodes']>[number], { kind: 'agent' }>;
type AgentToolInput = Exclude<NonNullable<AgentNodeInput['tools']>[number], string>;

/**
 * An agent's tool with options. In a list that also accepts plain names, TypeScript would take the key `fixed` for the
 * deprecated method of strings.
 */
export const offer = (tool: AgentToolInput): AgentToolInput => tool;
