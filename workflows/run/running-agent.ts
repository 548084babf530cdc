import type { AgentLoop } from '#shared/agents/loop.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import type { ChildWork } from './open-children.ts';
import type { PreparedAgent } from '#shared/graph/prepare/agent.ts';
import type { PreparedStep } from '#shared/graph/prepare/step.ts';

/** An agent with tools that has started and not ended. */
export interface RunningAgent {
  step: Pick<ReadyNode, 'step_key' | 'iteration'>;
  prepared: PreparedAgent;
  loop: AgentLoop;
}

/** A turn or a call that waits to be dispatched. */
export type AgentWork = StepWork | { agent: RunningAgent; child: ChildWork };

/** A call that an activity executes. Any other call starts a child run. */
export interface StepWork {
  agent: RunningAgent;
  stepKey: string;
  prepared: PreparedStep;
  short: boolean;
  succeeded: (output: Json) => void;
}
