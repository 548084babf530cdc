import type { Json, JsonObject } from '#shared/json.ts';
import type { GateSettings } from './gate-settings.ts';

/** A gate that an execution has reached, as the ledger opens it. */
export interface GateOpening {
  step_key: string;
  round: number;
  node_id: string;
  label: string;
  iteration: number[];
  prompt: string;
  /** Of a gate with a template, and of a step that needs approval. */
  title?: string;
  /** Without a 'false' edge, a rejection fails the run. */
  fails_on_reject: boolean;
  /** The failure is caught by an error edge or a map. */
  caught_on_reject?: boolean;
  /** For a tool call that needs approval. */
  tool_call?: AgentCall | StepToApprove;
  /** Of a step that needs approval: its output key, and its arguments, redacted. */
  output_key?: string;
  redacted?: Json;
  settings?: GateSettings;
}

/** A call of an agent. The ledger has its arguments. */
export interface AgentCall {
  agent_key: string;
  turn: number;
  call: number;
  tool: string;
}

/** The step of a tool or a workflow that needs approval, with what the approval is bound to. */
export interface StepToApprove {
  /** The name of the tool, or `workflow:` with that of the workflow. */
  tool: string;
  arguments: JsonObject;
  /** Of the tool's schema, and of what the call reaches. */
  schema_digest: string;
  tool_digest: string | null;
}

/** A step that is not executed before a person has approved it. */
export interface AskingStep {
  round: number;
  question: string;
  call: StepToApprove;
  /** The arguments, redacted. */
  redacted: Json;
  /** Those of the gate that showed something else; otherwise those of the node count. */
  settings?: GateSettings;
}

export const isAgentCall = (call: AgentCall | StepToApprove): call is AgentCall =>
  'agent_key' in call;

/** The step in the graph that waits at the gate of a step: for a call of an agent, the agent. Ids contain no `/`. */
export const askedStep = (stepKey: string): string => stepKey.split('/', 1)[0]!;
