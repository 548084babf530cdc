import type { Json, JsonObject } from '#shared/json.ts';
import type { RequestedCall, VerbatimTurn } from './conversation.ts';

/** A call of a turn with everything that decides whether and how it is made. */
export interface RecordedCall extends RequestedCall {
  /** What will be sent: the model's arguments and the fixed ones. Absent for a refused call. */
  arguments?: JsonObject;
  /** The digest of the schema that the arguments were checked against. */
  schema_digest?: string;
  /** The digest of what the call reaches; absent for a built-in tool. */
  tool_digest?: string;
  /** A person must approve it: the question, with the arguments redacted and shortened. */
  question?: string;
  /** With `question`: the arguments redacted, for receivers outside the service. Null when they are long. */
  redacted?: Json;
}

/** The output of a turn's step in the ledger. */
export interface TurnRecord {
  text: string;
  calls: RecordedCall[];
  verbatim?: VerbatimTurn;
  /** The node's output; only for a turn without calls. */
  answer?: Json;
}

/** A call to dispatch. Contains nothing of the conversation: it is stored in the history of the execution. */
export interface OpenCall {
  /** From 1. */
  index: number;
  tool: string;
  needs_approval: boolean;
}

/** The result of a turn for the workflow. */
export type TurnProgress = { answer: Json } | { calls: OpenCall[] };

/** Whether the call succeeded; otherwise why the model gets an error. The workflow needs no more. */
export type CallProgress = { ended: 'success' | 'failed' };

/** The step key of a turn, from 1, of an agent's step. */
export const turnKey = (agentKey: string, turn: number | ''): string => `${agentKey}/${turn}`;

/** The step key of a call, from 1, of a turn. */
export const callKey = (agentKey: string, turn: number, index: number): string =>
  `${turnKey(agentKey, turn)}.${index}`;

/** The progress that a finished turn means. */
export function progressOf({ answer, calls }: TurnRecord): TurnProgress {
  if (answer !== undefined) return { answer };
  return {
    calls: calls
      .filter((call) => call.refusal === undefined)
      .map(({ index, tool, question }) => ({
        index,
        tool,
        needs_approval: question !== undefined,
      })),
  };
}
