import { z } from 'zod';
import { MAX_RESULT_CHARACTERS } from '#shared/agents/loop.ts';
import { type CallResult, type Conversation, openingOf } from '#shared/agents/conversation.ts';
import { type RecordedCall, type TurnRecord, turnKey } from '#shared/agents/turn-record.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/**
 * Conversations of agents with tools. Nothing is stored twice: the input of the first turn has the prompts, each turn's
 * output has the model's response, and each call's step has its result.
 */

const partRow = z.object({
  turn: z.number(),
  call_index: z.number().nullable(),
  status: z.string(),
  input: storedJson(),
  output: storedJson(),
  error: z.string().nullable(),
});

type PartRow = z.infer<typeof partRow>;

/** The turns and calls of an agent's step before a turn, in order. */
async function readParts(
  db: Db,
  agent: { runId: string; agentKey: string; before: number },
): Promise<readonly PartRow[]> {
  return db.any(statement(partRow)`
    SELECT turn, call_index, status, CASE WHEN turn = 1 AND call_index IS NULL THEN input END AS input, output, error
    FROM steps
    WHERE run_id = ${agent.runId} AND parent_step_key = ${agent.agentKey} AND turn < ${agent.before}::int
    ORDER BY turn, call_index NULLS FIRST
  `);
}

/**
 * The conversation before a turn, as the model reads it; undefined when an earlier turn is incomplete. The prompts of
 * the first turn come from its call, so the result for turn 1 does not have them.
 */
export async function readConversation(
  db: Db,
  agent: { runId: string; agentKey: string; before: number },
): Promise<Conversation | undefined> {
  if (agent.before === 1) return { system: '', prompt: '', turns: [] };
  const parts = await readParts(db, agent);
  const turns = new Map<number, TurnRecord>();
  const calls = new Map<string, PartRow>();
  let input: JsonObject = {};
  for (const part of parts) {
    if (part.call_index !== null) {
      calls.set(`${part.turn}.${part.call_index}`, part);
      continue;
    }
    if (part.status !== 'success') return undefined;
    turns.set(part.turn, part.output as unknown as TurnRecord);
    if (part.turn === 1) input = part.input as JsonObject;
  }
  if (turns.size !== agent.before - 1) return undefined;
  return {
    ...openingOf({ params: input, state: {} }),
    turns: [...turns].map(([turn, { text, calls: requested, verbatim }]) => ({
      text,
      calls: requested,
      ...(verbatim === undefined ? {} : { verbatim }),
      results: requested.map((call) => resultOf(call, calls.get(`${turn}.${call.index}`))),
    })),
  };
}

function resultOf(call: RecordedCall, part: PartRow | undefined): CallResult {
  const { index, id, tool } = call;
  const notMade = { content: part?.error ?? 'The call was not made', isError: true };
  return { index, id, tool, ...(outcomeOf(call, part) ?? notMade) };
}

/** What the model gets for a call: its output, or why there is none. Undefined while there is neither. */
export function outcomeOf(
  { refusal }: RecordedCall,
  part: Pick<PartRow, 'status' | 'output' | 'error'> | undefined,
): Pick<CallResult, 'content' | 'isError'> | undefined {
  if (refusal !== undefined) return { content: refusal, isError: true };
  if (part?.status === 'success') return { content: part.output, isError: false };
  if (part?.status !== 'failed') return undefined;
  const error = part.error?.slice(0, MAX_RESULT_CHARACTERS).toWellFormed() ?? null;
  return { content: error, isError: true };
}

const earlierRow = z.object({ tool: z.string(), calls: z.number() });

/** How often each tool was called before a turn. Refused calls do not count. */
export async function countCalls(
  db: Db,
  agent: { runId: string; agentKey: string; before: number },
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.any(statement(earlierRow)`
    SELECT c ->> 'tool' AS tool, count(*)::int AS calls
    FROM steps s CROSS JOIN json_array_elements(s.output -> 'calls') AS c
    WHERE s.run_id = ${agent.runId} AND s.parent_step_key = ${agent.agentKey} AND s.turn < ${agent.before}::int
      AND s.call_index IS NULL AND s.status = 'success' AND c ->> 'refusal' IS NULL
    GROUP BY 1
  `);
  return new Map(rows.map(({ tool, calls }) => [tool, calls]));
}

const callRow = z.object({
  output: storedJson<TurnRecord>(),
  status: z.string().nullable(),
  refused: z.boolean(),
  approved: z
    .object({
      digest: z.string(),
      arguments: storedJson<JsonObject>().nullable(),
      reused: z.boolean(),
    })
    .nullable(),
});

/** A recorded call, the result of its step so far, and its approval. */
export interface StoredCall {
  call: RecordedCall;
  /** The status of its step; null before the first attempt. */
  status: string | null;
  /** Whether the policies refused it. */
  refused: boolean;
  /**
   * The decision: the digest it is bound to, the arguments if the approver changed them, and whether it was made in the
   * run that this one starts from.
   */
  approved: { digest: string; arguments: JsonObject | null; reused: boolean } | null;
}

/** Undefined when the turn has no such call. */
export async function readCall(
  db: Db,
  key: { runId: string; agentKey: string; turn: number; stepKey: string; index: number },
): Promise<StoredCall | undefined> {
  const row = await db.maybeOne(statement(callRow)`
    SELECT t.output, c.status, EXISTS (
      SELECT FROM json_array_elements(c.policy) AS v WHERE v ->> 'decision' IN ('denied', 'blocked')) AS refused, (
      SELECT json_build_object('digest', g.decided_digest, 'arguments', g.decided_arguments, 'reused', g.reused_from IS NOT NULL)
      FROM gates g
      WHERE g.run_id = t.run_id AND g.step_key = ${key.stepKey} AND g.kind = 'tool_call' AND g.status = 'approved'
      ORDER BY g.round DESC LIMIT 1) AS approved
    FROM steps t LEFT JOIN steps c ON c.run_id = t.run_id AND c.step_key = ${key.stepKey}
    WHERE t.run_id = ${key.runId} AND t.step_key = ${turnKey(key.agentKey, key.turn)} AND t.status = 'success'
  `);
  const call = row?.output.calls.find((each) => each.index === key.index);
  if (row === null || call === undefined) return undefined;
  return { call, status: row.status, refused: row.refused, approved: row.approved };
}
