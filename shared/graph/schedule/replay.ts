import { createReadyQueue } from './ready-queue.ts';
import type { ReadyNode } from './scheduler.ts';

/** Ready steps that ended in another run, in the order in which they ended there. */
export interface Replay {
  /** Whether the step ended there. */
  has(stepKey: string): boolean;
  add(ready: readonly ReadyNode[]): void;
  /** The first of those that were added and not returned yet. */
  next(): ReadyNode | undefined;
}

export function createReplay(order: readonly string[]): Replay {
  const ranks = new Map(order.map((key, rank) => [key, rank]));
  const rank = ({ step_key: key }: ReadyNode): number => ranks.get(key) ?? Infinity;
  const queue = createReadyQueue<ReadyNode>((a, b) => rank(a) < rank(b));
  return {
    has: (stepKey) => ranks.has(stepKey),
    add: (ready) => {
      for (const step of ready) queue.push(step);
    },
    next: () => queue.pop(),
  };
}
