import type { z } from 'zod';
import type { limitsInput } from '#shared/contract/limits/limits.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
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
  /** Absent: its workflows have none. */
  limits?: z.input<typeof limitsInput>;
  /** Runs it to completion on the mock model, without any external call, if it waits for no event. */
  sampleInput: JsonObject;
  /** The event that a run with this input waits for. */
  sampleEvent?: { name: string; data: JsonObject };
}

/** Distance between the columns and rows of the drawn graphs. */
const COLUMN = 260;
const ROW = 130;

type NodeInput = NonNullable<GraphInput['nodes']>[number];
type Kind = NodeInput['kind'];
type OfKind<K extends Kind> = Extract<NodeInput, { kind: K }>;

/** A node, at a column and a row of the drawn graph. */
export const node = <K extends Kind>(
  kind: K,
  id: string,
  label: string,
  [column, row]: readonly [number, number],
  rest?: Omit<OfKind<K>, 'kind' | 'id' | 'label' | 'position'>,
): NodeInput =>
  ({ id, kind, label, position: { x: column * COLUMN, y: row * ROW }, ...rest }) as OfKind<K>;

type AgentToolInput = Exclude<NonNullable<OfKind<'agent'>['tools']>[number], string>;

/**
 * An agent's tool with options. In a list that also accepts plain names, TypeScript would take the key `fixed` for the
 * deprecated method of strings.
 */
export const offer = (tool: AgentToolInput): AgentToolInput => tool;
