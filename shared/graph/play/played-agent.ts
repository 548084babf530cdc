import type { CallResult } from '#shared/agents/conversation.ts';
import type { AgentLoop } from '#shared/agents/loop.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import type { TurnRecord } from '#shared/agents/turn-record.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { PreparedAgent } from '#shared/graph/prepare/agent.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';

/** A turn that the model has taken, with the results of its calls so far, by their index. */
interface PlayedTurn {
  record: TurnRecord;
  results: Map<number, CallResult>;
}

/** An agent with tools that has started. */
export interface PlayedAgent {
  step: ReadyNode;
  node: AgentNode;
  prepared: PreparedAgent;
  tools: readonly OfferedTool[];
  loop: AgentLoop;
  /** From the first one on. */
  turns: PlayedTurn[];
  /** Whether it has ended, so that what is still in flight changes nothing. */
  ended: boolean;
}
