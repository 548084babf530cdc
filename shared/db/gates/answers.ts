import { z } from 'zod';
import { type GateAnswer, type GateDecision, withoutNulls } from '../../gate-decision.ts';
import { type FragmentSqlToken, jsonOrNull, type Pool, sql, type Tx } from '../pool.ts';
import type { JsonObject } from '../../json.ts';
import { storedJson } from '../stored-json.ts';

interface AnswerColumn {
  read: FragmentSqlToken;
  value: (answer: GateAnswer) => FragmentSqlToken;
  set: (value: FragmentSqlToken) => FragmentSqlToken;
}

/** How the `gates` table stores each field of an answer. */
const answerColumns = {
  approved: {
    read: sql.fragment`status = 'approved'`,
    value: ({ approved }) => sql.fragment`${approved}::boolean`,
    set: (value) => sql.fragment`status = CASE WHEN ${value} THEN 'approved' ELSE 'rejected' END`,
  },
  input: {
    read: sql.fragment`input`,
    value: ({ input }) => jsonOrNull(input ?? null),
    set: (value) => sql.fragment`input = ${value}`,
  },
  reason: {
    read: sql.fragment`reason`,
    value: ({ reason }) => sql.fragment`${reason || null}::text`,
    set: (value) => sql.fragment`reason = ${value}`,
  },
} satisfies Record<keyof GateAnswer, AnswerColumn>;

/** Members of a `json_build_object`, one for each field of an answer. */
export const answerMembers = (of: (column: AnswerColumn) => FragmentSqlToken) =>
  sql.join(
    Object.entries(answerColumns).map(
      ([name, column]) => sql.fragment`${name}::text, ${of(column)}`,
    ),
    sql.fragment`, `,
  );

const storedAnswer = answerMembers(({ read }) => read);

export const answerAssignments = (answer: GateAnswer) =>
  sql.join(
    Object.values(answerColumns).map(({ set, value }) => set(value(answer))),
    sql.fragment`, `,
  );

const decisionRow = z.object({
  step_key: z.string(),
  round: z.number(),
  answer: z.object({
    approved: z.boolean(),
    input: storedJson<JsonObject>().nullable(),
    reason: z.string().nullable(),
  } satisfies Record<keyof GateAnswer, z.ZodType>),
  timed_out: z.literal('fail').nullable(),
});

const toDecision = ({ answer, timed_out, ...gate }: z.infer<typeof decisionRow>): GateDecision =>
  ({ ...gate, ...withoutNulls({ ...answer, timed_out }) }) as GateDecision;

/**
 * Every decision made in a run so far, oldest first. The reason at a tool call is part of the conversation, which stays
 * out of the executions.
 */
export async function readDecisions(db: Pool | Tx, runId: string): Promise<GateDecision[]> {
  const rows = await db.any(sql.prepared('gates_decisions', decisionRow)`
    SELECT step_key, round, json_build_object(${storedAnswer}) AS answer, timed_out
    FROM (SELECT step_key, round, status, input, decided_at, CASE WHEN timed_out = 'fail' THEN timed_out END AS timed_out,
                 CASE WHEN kind = 'human_gate' THEN reason END AS reason
          FROM gates WHERE run_id = ${runId}) AS g
    WHERE status IN ('approved', 'rejected') ORDER BY decided_at, step_key, round
  `);
  return rows.map(toDecision);
}
