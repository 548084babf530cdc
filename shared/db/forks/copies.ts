/** What a run takes over from the run it starts from. */
export interface ForkCopies {
  sourceId: string;
  /** The keys of finished steps. */
  kept: readonly string[];
  /** Agents with tools whose turns before `before` are taken over, with their calls. */
  turns: readonly { agent: string; before: number }[];
  /** Agents that had not finished: their finished turns and calls are taken over. */
  begun: readonly string[];
}

/** The argument `copies` of the database function `copy_steps_1`. */
export const copied = ({ kept, turns, begun }: ForkCopies) => ({
  kept,
  agents: [
    ...kept.map((agent) => ({ agent, before: null, whole: true })),
    ...turns.map((part) => ({ ...part, whole: true })),
    ...begun.map((agent) => ({ agent, before: null, whole: false })),
  ],
});
