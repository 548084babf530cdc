import { z } from 'zod';
import { openingOf } from '#shared/agents/conversation.ts';
import {
  callKey,
  type RecordedCall,
  type TurnRecord,
  turnKey,
} from '#shared/agents/turn-record.ts';
import type { Message } from '#shared/contract/agents/message.ts';
import type { Step } from '#shared/contract/steps/step.ts';
import type { JsonObject } from '#shared/json.ts';
import { toDollars } from '#shared/money/money.ts';
import { storedTime } from '#shared/time.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import { outcomeOf } from './conversations.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const partRow = z.object({
  turn: z.number(),
  call_index: z.number().nullable(),
  status: z.string(),
  input: storedJson(),
  output: storedJson(),
  error: z.string().nullable(),
  model: z.string().nullable(),
  usage: storedJson<Step['usage'] | null>(),
  cost_micros: z.number(),
  unpriced: z.boolean(),
  finished_at: z.string().nullable(),
});

type PartRow = z.infer<typeof partRow>;

/**
 * The messages of an agent's step, oldest first. Undefined when the workspace has no such run, or when the step is not
 * an agent with tools. A turn that is still waiting for the model is missing, and so is the result of a call in
 * progress.
 */
export async function readMessages(
  db: Db,
  scope: {
    workspaceId: string;
    runId: string;
    agentKey: string;
    /** Whether to leave out the arguments of calls that need approval. */
    hides?: boolean;
  },
): Promise<Message[] | undefined> {
  const parts = await db.any(statement(partRow)`
    SELECT s.turn, s.call_index, s.status, s.input, s.output, s.error, s.model, s.usage, s.cost_micros, s.unpriced, s.finished_at
    FROM runs r JOIN steps s ON s.run_id = r.id
    WHERE r.id = ${scope.runId} AND r.workspace_id = ${scope.workspaceId} AND s.parent_step_key = ${scope.agentKey}
    ORDER BY s.turn, s.call_index NULLS FIRST
  `);
  if (parts.length === 0) return undefined;
  const calls = new Map(parts.map((part) => [`${part.turn}.${part.call_index}`, part]));
  return parts.flatMap((part) => (part.call_index === null ? messagesOf(part, scope, calls) : []));
}

function messagesOf(
  part: PartRow,
  { agentKey, hides = false }: { agentKey: string; hides?: boolean },
  calls: ReadonlyMap<string, PartRow>,
): Message[] {
  const prompts = part.turn === 1 ? promptsOf(part.input as JsonObject | null) : [];
  if (part.status !== 'success') return prompts;
  const { text, calls: requested } = part.output as unknown as TurnRecord;
  const assistant: Message = {
    role: 'assistant',
    turn: part.turn,
    step_key: turnKey(agentKey, part.turn),
    text,
    calls: requested.map((call) => ({
      index: call.index,
      step_key: stepKeyOf(agentKey, part.turn, call),
      tool: call.tool,
      arguments: hides && call.question !== undefined ? null : call.given,
      refusal: call.refusal ?? null,
    })),
    model: part.model,
    usage: part.usage ?? null,
    cost_usd: toDollars(part.cost_micros),
    ...(part.unpriced ? { unpriced: true } : {}),
    at: storedTime(part.finished_at ?? ''),
  };
  const results = requested.flatMap((call) =>
    resultOf(call, part.turn, agentKey, calls.get(`${part.turn}.${call.index}`)),
  );
  return [...prompts, assistant, ...results];
}

const stepKeyOf = (agentKey: string, turn: number, { index, refusal }: RecordedCall) =>
  refusal === undefined ? callKey(agentKey, turn, index) : null;

function promptsOf(input: JsonObject | null): Message[] {
  const { system, prompt } = openingOf({ params: input ?? {}, state: {} });
  return [
    ...(system === '' ? [] : [{ role: 'system', text: system } as const]),
    { role: 'user', text: prompt },
  ];
}

function resultOf(
  call: RecordedCall,
  turn: number,
  agentKey: string,
  part: PartRow | undefined,
): Message[] {
  const outcome = outcomeOf(call, part);
  if (outcome === undefined) return [];
  const { index, tool } = call;
  const step_key = stepKeyOf(agentKey, turn, call);
  const { content, isError: is_error } = outcome;
  return [{ role: 'tool', turn, index, step_key, tool, content, is_error }];
}
