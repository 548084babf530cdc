import { z } from 'zod';
import { rehearsalSchema } from '#shared/contract/forks/fork.ts';
import { type ErrorKind, errorKinds } from '#shared/graph/caught-error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { type RecordedCall, turnKey } from '#shared/agents/turn-record.ts';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** The recorded result for a step of a rehearsal or fork. */
export interface RecordedStep {
  stepKey: string;
  status: 'success' | 'failed';
  input: Json;
  output: Json;
  error: string | null;
  kind: ErrorKind | null;
  /** The number of attempts that failed. */
  errors: number;
  model: string | null;
  /** The run that executed it. */
  reusedFrom: string;
}

const recordedRow = z.object({
  step_key: z.string(),
  status: z.enum(['success', 'failed']),
  input: storedJson(),
  output: storedJson(),
  error: z.string().nullable(),
  kind: z.enum(errorKinds).nullable(),
  errors: z.number(),
  model: z.string().nullable(),
  reused_from: z.string(),
});

const toStep = ({ step_key, reused_from, ...same }: z.infer<typeof recordedRow>): RecordedStep => ({
  ...same,
  stepKey: step_key,
  reusedFrom: reused_from,
});

/** Columns of the ended step `s` of the run that `r` starts from. */
const recordedColumns = sql.fragment`
  s.step_key, s.status, s.input, s.output, s.error, s.error_kind AS kind, greatest(0, s.errors - s.forgiven) AS errors,
  s.model, coalesce(s.reused_from, s.run_id) AS reused_from`;

const hasEnded = sql.fragment`s.status IN ('success', 'failed')`;

/** A fork only reuses results with which its source continued: it executes failed steps again. */
const countsForFork = sql.fragment`(r.rehearsal IS NOT NULL OR s.status = 'success' OR s.caught)`;

/** Like `countsForFork`, for a call `s` of an agent: a failed call counts if the model got the error. */
export const callCountsForFork = sql.fragment`(r.rehearsal IS NOT NULL OR s.status = 'success' OR EXISTS (
  SELECT FROM steps n WHERE n.run_id = s.run_id AND n.parent_step_key = s.parent_step_key AND n.turn > s.turn
    AND n.call_index IS NULL AND n.status = 'success'))`;

const ofSource = (runId: string, where: FragmentSqlToken) => sql.fragment`
  SELECT ${recordedColumns} FROM runs r JOIN steps s ON s.run_id = r.forked_from
  WHERE r.id = ${runId} AND ${hasEnded} AND ${where}`;

/** The recorded result of a step with the same node and input: `digest` is that of its node and its rendered input. */
export async function findRecorded(
  db: Db,
  { runId, stepKey, digest }: { runId: string; stepKey: string; digest: string },
): Promise<RecordedStep | undefined> {
  const row = await db.maybeOne(statement(recordedRow)`
    ${ofSource(
      runId,
      sql.fragment`s.step_key = ${stepKey} AND ${countsForFork} AND EXISTS (
        SELECT FROM recorded_steps d WHERE d.run_id = r.id AND d.step_key = ${stepKey} AND d.digest = ${digest})`,
    )}
  `);
  return row === null ? undefined : toStep(row);
}

/**
 * The recorded result of a turn of an agent with tools. The first turn must have the same node and input; a later one
 * is the same if everything before it comes from the record. A fork from a turn executes that turn and later ones.
 */
export async function findRecordedTurn(
  db: Db,
  turn: { runId: string; agentKey: string; turn: number; digest: string },
): Promise<RecordedStep | undefined> {
  const { runId, agentKey, digest } = turn;
  const prefix = turnKey(agentKey, '');
  const row = await db.maybeOne(statement(recordedRow)`
    ${ofSource(
      runId,
      sql.fragment`s.step_key = ${turnKey(agentKey, turn.turn)} AND ${countsForFork}
        AND CASE WHEN r.rehearsal IS NULL AND starts_with(r.forked_from_step, ${prefix})
                 THEN ${turn.turn}::int < split_part(substr(r.forked_from_step, length(${prefix}) + 1), '.', 1)::int
                 ELSE true END
        AND CASE WHEN ${turn.turn === 1}
        THEN EXISTS (SELECT FROM recorded_steps d WHERE d.run_id = r.id AND d.step_key = ${agentKey} AND d.digest = ${digest})
        ELSE NOT EXISTS (SELECT FROM steps b WHERE b.run_id = r.id AND b.parent_step_key = ${agentKey}
                           AND b.turn < ${turn.turn}::int AND b.reused_from IS NULL) END`,
    )}
  `);
  return row === null ? undefined : toStep(row);
}

const callRow = z.object({
  ...recordedRow.shape,
  turn: z.number(),
  index: z.number(),
  calls: storedJson<RecordedCall[]>(),
  decided: storedJson<JsonObject>().nullable(),
});

/**
 * The recorded result of an agent's call: one of the same tool with the same arguments, made by the same step of the
 * other run. If there are several, the one with the same key. A fork reuses only that one, and only after the same
 * turn.
 */
export async function findRecordedCall(
  db: Db,
  call: { runId: string; stepKey: string; agentKey: string; tool: string; args: JsonObject },
): Promise<RecordedStep | undefined> {
  const { runId, stepKey, agentKey, tool, args } = call;
  const rows = await db.any(statement(callRow)`
    SELECT ${recordedColumns}, s.turn, s.call_index AS index, t.output -> 'calls' AS calls,
           (SELECT g.decided_arguments FROM gates g
            WHERE g.run_id = s.run_id AND g.step_key = s.step_key AND g.status = 'approved'
            ORDER BY g.round DESC LIMIT 1) AS decided
    FROM runs r JOIN steps s ON s.run_id = r.forked_from
    JOIN steps t ON t.run_id = s.run_id AND t.step_key = ${agentKey} || '/' || s.turn
    WHERE r.id = ${runId} AND ${hasEnded} AND s.attempts > 0 AND ${callCountsForFork}
      AND (r.rehearsal IS NOT NULL OR (s.step_key = ${stepKey} AND EXISTS (
        SELECT FROM steps b WHERE b.run_id = r.id AND b.step_key = ${agentKey} || '/' || s.turn
          AND b.reused_from IS NOT NULL)))
      AND s.parent_step_key = ${agentKey} AND s.call_tool = ${tool}
    ORDER BY s.step_key <> ${stepKey}, s.turn, s.call_index
  `);
  const wanted = canonicalJson(args);
  const found = rows.find(({ calls, index, decided }) => {
    const sent = decided ?? calls.find((each) => each.index === index)?.arguments;
    return sent !== undefined && canonicalJson(sent) === wanted;
  });
  return found === undefined ? undefined : toStep(found);
}

const pinRow = z.object({ run_id: z.string(), step_key: z.string(), output: storedJson() });

/** The output that the member who started the rehearsal pinned for a node. */
export async function findPinned(
  db: Db,
  { runId, nodeId }: { runId: string; nodeId: string },
): Promise<RecordedStep | undefined> {
  const row = await db.maybeOne(statement(pinRow)`
    SELECT p.run_id, p.step_key, p.output
    FROM runs r JOIN workflow_pins p ON p.workflow_id = r.workflow_id AND p.member_id IS NOT DISTINCT FROM r.created_by
    WHERE r.id = ${runId} AND p.node_id = ${nodeId}
  `);
  if (row === null) return undefined;
  const { run_id: reusedFrom, step_key: stepKey, output } = row;
  const ended = { status: 'success', input: null, error: null, kind: null, errors: 0 } as const;
  return { ...ended, stepKey, output, model: null, reusedFrom };
}

const childRow = z.object({
  child: z.string().nullable(),
  decisions: rehearsalSchema.shape.decisions,
});

/**
 * The run that this step started in the rehearsed run, and the decisions that were given when the rehearsal was
 * started.
 */
export async function readRehearsedChild(
  db: Db,
  { runId, stepKey }: { runId: string; stepKey: string },
): Promise<z.infer<typeof childRow>> {
  return db.one(statement(childRow)`
    SELECT coalesce(r.rehearsal -> 'decisions', '{}') AS decisions, (
      SELECT c.id FROM runs c WHERE c.parent_run_id = r.forked_from AND c.parent_step_key = ${stepKey}) AS child
    FROM runs r WHERE r.id = ${runId}
  `);
}
