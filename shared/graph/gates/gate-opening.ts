import type { GateSettings } from './gate-settings.ts';

/** A gate that an execution has reached, as the ledger opens it. */
export interface GateOpening {
  step_key: string;
  round: number;
  node_id: string;
  label: string;
  iteration: number[];
  prompt: string;
  /** Without a 'false' edge, a rejection fails the run. */
  fails_on_reject: boolean;
  /** The failure is caught by an error edge or a map. */
  caught_on_reject?: boolean;
  /** For a tool call that needs approval. The ledger has its arguments. */
  tool_call?: { agent_key: string; turn: number; call: number; tool: string };
  settings?: GateSettings;
}
