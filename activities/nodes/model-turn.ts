import type { Conversation, ModelTurn } from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import type { Json } from '#shared/json.ts';
import type { NodeCall } from './node.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { Consumption } from '#shared/node-error.ts';

/** The call of a node with a model. */
export type ModelCall = NodeCall<AgentNode>;

/** A turn to ask: the conversation so far, and the tools on offer. */
export interface TurnCall extends ModelCall {
  /** From 1. */
  turn: number;
  conversation: Conversation;
  /** The size of what is sent. */
  inputBytes: number;
  /** Also with `none`: providers require the tools of the calls in the conversation. */
  tools: readonly OfferedTool[];
  /** `none`: the model must answer. */
  toolChoice: 'auto' | 'required' | 'none';
  /** Receives the text as it arrives, without keys. Another model begins again, after one that failed. */
  onText?: (delta: string, model: string) => void;
}

/** The model's turn. With calls, `output` is not set; without, it is the node's output. */
export interface TurnResult extends Consumption {
  said: ModelTurn;
  output?: Json;
}

export type TurnRunner = (call: TurnCall) => Promise<TurnResult>;
