import type { Json, JsonObject } from '#shared/json.ts';
import type { RequestedCall, VerbatimTurn } from './conversation.ts';

/** A call of a turn, with everything that determines whether and how it is made. */
export interface RecordedCall extends RequestedCall {
  /** The arguments to send: the model's and the fixed ones. Absent for a refused call. */
  arguments?: JsonObject;
  /** The digest of the schema that the arguments were checked against. */
  schema_digest?: string;
  /** The digest of what the call reaches; absent for a built-in tool. */
  tool_digest?: string;
  /** The question for the person who must approve the call, with the arguments redacted and shortened. */
  question?: string;
  /** With `question`: what is decided, in one line. */
  title?: string;
  /** With `question`: the redacted arguments, for receivers outside the service. Null when they are long. */
  redacted?: Json;
}

/** The output of a turn's step in the ledger. */
export interface TurnRecord {
  text: string;
  calls: RecordedCall[];
  verbatim?: VerbatimTurn;
  /** The node's output. Only set for a turn without calls. */
  answer?: Json;
}

/** A call to dispatch. It contains nothing of the conversation, because it is stored in the execution's history. */
export interface OpenCall {
  /** From 1. */
  index: number;
  tool: string;
  needs_approval: boolean;
}

/** The result of a turn for the workflow. */
export type TurnProgress = { answer: Json } | { calls: OpenCall[] };

/** Whether the call succeeded; if not, why the model gets an error. The workflow needs no more. */
export type CallProgress = { ended: 'success' | 'failed' };

/** The step key of a turn of an agent's step; turns count from 1. */
export const turnKey = (agentKey: string, turn: number | ''): string => `${agentKey}/${turn}`;

/** The step key of a call of a turn; calls count from 1. */
export const callKey = (agentKey: string, turn: number, index: number): string =>
  `${turnKey(agentKey, turn)}.${index}`;

/** The progress that results from a finished turn. */
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

/** A turn without the arguments that the node sets, which only approvers see. */
export const shownTurn = (turn: TurnRecord | null): Json =>
  turn && {
    text: turn.text,
    calls: turn.calls.map(({ index, tool, given, question, refusal }) => ({
      index,
      tool,
      arguments: given,
      ...(question === undefined ? {} : { needs_approval: true }),
      ...(refusal === undefined ? {} : { refusal }),
    })),
  };
