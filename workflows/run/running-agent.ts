import type { AgentLoop } from '../../shared/agents/loop.ts';
import type { ReadyNode } from '../../shared/graph/schedule/scheduler.ts';
import type { Json } from '../../shared/json.ts';
import type { PreparedAgent } from './prepare-agent.ts';
import type { PreparedStep } from './prepare.ts';

/** An agent with tools that has started and not ended. */
export interface RunningAgent {
  step: Pick<ReadyNode, 'step_key' | 'iteration'>;
  prepared: PreparedAgent;
  loop: AgentLoop;
}

/** A turn or a call that waits to be dispatched. */
export interface AgentWork {
  agent: RunningAgent;
  stepKey: string;
  prepared: PreparedStep;
  short: boolean;
  succeeded: (output: Json) => void;
}
