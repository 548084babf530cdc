import type { Conversation, ModelTurn } from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import type { Json } from '#shared/json.ts';
import type { NodeCall } from './node.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { Consumption } from '#shared/node-error.ts';

/** A node's call with a model. */
export type ModelCall = NodeCall<AgentNode>;

/** A turn to request: the conversation so far, and the offered tools. */
export interface TurnCall extends ModelCall {
  /** From 1. */
  turn: number;
  conversation: Conversation;
  /** The size of what is sent. */
  inputBytes: number;
  /** Set even with `none`, because providers require the tools of all calls in the conversation. */
  tools: readonly OfferedTool[];
  /** `none`: the model must answer. */
  toolChoice: 'auto' | 'required' | 'none';
}

/** The model's turn. `output` is only set for a turn without calls: then it is the node's output. */
export interface TurnResult extends Consumption {
  said: ModelTurn;
  output?: Json;
}

export type TurnRunner = (call: TurnCall) => Promise<TurnResult>;
