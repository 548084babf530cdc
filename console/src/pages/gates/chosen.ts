import type { Approval, PendingGate } from '#client/index.ts';

/** The selected gate. */
export interface Chosen {
  runId: string;
  nodeId: string;
  /** The step, if the node can have several gates at once. Without it, the first of them. */
  step?: string | undefined;
}

/** What a gate's URL contains in addition to its run and node. */
export const stepOf = ({ node_id, step_key }: Pick<PendingGate, 'node_id' | 'step_key'>) =>
  step_key === node_id ? undefined : step_key;

/** What the URL contains while only the user's gates are listed. */
export const mineSearch = (mine: boolean): { mine?: true } => (mine ? { mine } : {});

/** The position of the selected gate in the list; -1 if there is none. */
export function chosenIndex(
  gates: readonly Approval[] | undefined,
  chosen: Chosen | undefined,
): number {
  if (gates === undefined || chosen === undefined) return -1;
  return gates.findIndex(
    (gate) =>
      gate.run_id === chosen.runId &&
      gate.node_id === chosen.nodeId &&
      (chosen.step === undefined || chosen.step === gate.step_key),
  );
}
