import type { WaitNode } from '#shared/contract/workflows/graph.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';

/** What an execution knows about a step that waits. */
export interface Waiting {
  step: ReadyNode;
  node: WaitNode;
  /** Whether an activity opens or reads its row. */
  busy: boolean;
}
