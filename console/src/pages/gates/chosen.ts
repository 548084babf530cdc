import type { Approval, PendingGate } from '#client/index.ts';

/** The selected gate. */
export interface Chosen {
  runId: string;
  nodeId: string;
  /** The step, where the node can have several gates at once. Without one, the first of them. */
  step?: string | undefined;
}

/** What the address of a gate adds to its run and node. */
export const stepOf = ({ node_id, step_key }: Pick<PendingGate, 'node_id' | 'step_key'>) =>
  step_key === node_id ? undefined : step_key;

/** What the address adds while only the gates of the user are listed. */
export const mineSearch = (mine: boolean): { mine?: true } => (mine ? { mine } : {});

/** The position of the selected gate in the list; -1 without one. */
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
