/** The keys of steps: `id` outside of loops and maps, `id#2.3` in iteration 3 of the inner one in iteration 2 of the outer. */

export const stepKeyIn = (id: string, iteration: readonly number[]): string =>
  iteration.length === 0 ? id : `${id}#${iteration.join('.')}`;

/** The node of a step, from its key. Ids contain no `#`. */
export const nodeIdOf = (stepKey: string): string => stepKey.split('#', 1)[0]!;

/** The iterations in the key of a step, outermost first. */
export const iterationIn = (stepKey: string): number[] =>
  stepKey.split('#')[1]?.split('.').map(Number) ?? [];
