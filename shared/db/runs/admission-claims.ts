import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError, conflict } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import { MAX_RUN_DEPTH } from '#shared/limits.ts';
import { type Db, type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import type { SignatureMark } from '#shared/db/workflows/webhooks.ts';
import { readChild } from '#shared/db/children/steps.ts';
import { acceptsWorkOf } from './row.ts';
import { thisMonth } from '#shared/db/month.ts';
import { type RunRequest, storedRehearsal } from './run-request.ts';

/** What the requests with one idempotency key have in common. */
function fingerprintOf({ input, fork, version, drawn, rehearsal }: RunRequest): string {
  const { copies: _copies, ...from } = fork ?? {};
  // What stands before its nodes is no part of the request.
  const { guarded: _guarded, ...rules } = storedRehearsal(rehearsal) ?? {};
  const rehearsed = rehearsal === undefined ? null : rules;
  const plain = fork === undefined && drawn === undefined;
  const asked = plain ? input : { input, version, drawn, ...from, rehearsed };
  return createHash('sha256').update(canonicalJson(asked)).digest('hex');
}

/**
 * Each request that starts runs has keys of its own: for a workflow, for its draft, to run a run again, to fork it, and to
 * replay an event.
 */
function keyOf({ idempotencyKey: key, fork, drawn, replay }: RunRequest): string | undefined {
  if (key === undefined) return undefined;
  if (replay !== undefined) return [replay.eventId, 'replay', key].join('/');
  if (fork === undefined) return drawn === undefined ? key : `draft/${key}`;
  return [fork.sourceId, fork.fromStep === undefined ? 'rerun' : 'fork', key].join('/');
}

const claimRow = z.object({ run_id: z.string(), fingerprint: z.string() });

/** The existing run of the request's signature, event or idempotency key. */
export async function findReplay(db: Db, request: RunRequest): Promise<string | undefined> {
  if (request.signature !== undefined) {
    const signed = await findSignedRun(db, request, request.signature);
    if (signed !== undefined) return signed;
  }
  if (request.experimentId !== undefined) return findRehearsal(db, request);
  if (request.replay?.jobId !== undefined) {
    const replayed = await findReplayed(db, request.replay);
    if (replayed !== undefined) return replayed;
  }
  if (request.parent !== undefined) return (await readChild(db, placeOf(request.parent)))?.id;
  if (request.event !== undefined) return findEventRun(db, request, request.event);
  const key = keyOf(request);
  if (key === undefined) return undefined;
  const earlier = await db.maybeOne(sql.prepared('admission_read_key', claimRow)`
    SELECT run_id, encode(fingerprint, 'hex') AS fingerprint FROM idempotency_keys
    WHERE workspace_id = ${request.actor.workspaceId} AND workflow_id = ${request.workflowId}
      AND key = ${key}
  `);
  if (earlier === null) return undefined;
  if (earlier.fingerprint !== fingerprintOf(request)) {
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another input; use a new key for a new run',
    );
  }
  return earlier.run_id;
}

async function findRehearsal(
  db: Db,
  { experimentId, fork }: RunRequest,
): Promise<string | undefined> {
  const earlier = await db.maybeOne(sql.prepared(
    'admission_read_rehearsal',
    z.object({ id: z.string() }),
  )`
    SELECT id FROM runs WHERE experiment_id = ${experimentId ?? null} AND forked_from = ${fork?.sourceId ?? null}
  `);
  return earlier?.id;
}

async function findReplayed(
  db: Db,
  { eventId, jobId }: NonNullable<RunRequest['replay']>,
): Promise<string | undefined> {
  const earlier = await db.maybeOne(sql.prepared(
    'admission_read_replay',
    z.object({ run_id: z.string() }),
  )`
    SELECT run_id FROM inbound_event_replays WHERE event_id = ${eventId} AND job_id = ${jobId ?? null}
  `);
  return earlier?.run_id;
}

async function findSignedRun(
  db: Db,
  { actor, workflowId }: RunRequest,
  { hash }: SignatureMark,
): Promise<string | undefined> {
  const earlier = await db.maybeOne(sql.prepared(
    'admission_read_signature',
    z.object({ run_id: z.string() }),
  )`
    SELECT s.run_id FROM webhook_signatures s JOIN workflows w ON w.id = s.workflow_id
    WHERE s.workflow_id = ${workflowId} AND s.signature = ${sql.binary(hash)}
      AND w.workspace_id = ${actor.workspaceId}
  `);
  return earlier?.run_id;
}

async function findEventRun(
  db: Db,
  { actor, workflowId }: RunRequest,
  event: { id: string; windowSeconds: number },
): Promise<string | undefined> {
  const earlier = await db.maybeOne(sql.prepared(
    'admission_read_event',
    z.object({ run_id: z.string() }),
  )`
    SELECT e.run_id FROM webhook_events e JOIN workflows w ON w.id = e.workflow_id
    WHERE e.workflow_id = ${workflowId} AND e.event_id = ${event.id} AND w.workspace_id = ${actor.workspaceId}
      AND e.received_at >= now() - ${event.windowSeconds}::int * interval '1 second'
  `);
  return earlier?.run_id;
}

const placeOf = ({ runId, stepKey }: NonNullable<RunRequest['parent']>) => ({
  run_id: runId,
  step_key: stepKey,
});

/** Throws AppError `conflict` unless the run that starts another one accepts the work of its execution. */
export async function requireParent(
  db: Db,
  { runId, execution }: NonNullable<RunRequest['parent']>,
): Promise<void> {
  const open = await db.exists(sql.prepared('admission_require_parent', z.object({}))`
    SELECT FROM runs WHERE id = ${runId} AND ${acceptsWorkOf(execution)}
  `);
  if (!open) throw conflict('The run that starts it does not accept its work');
}

interface Claim {
  /** Name of the prepared statement. */
  name: string;
  claim: FragmentSqlToken;
  /** A refusal that comes before all others, as part of their UNION. */
  refused: FragmentSqlToken;
}

/**
 * The claim that a request makes before anything is counted; `claim` has a row if it succeeded. Of two requests with
 * the same claim, the second waits for the first. If the first commits, the second gets nothing; if the first is
 * refused, the second gets the claim.
 */
export function claimOf(request: RunRequest, runId: string, leastMicros: number | null): Claim {
  const { event, experimentId, parent, replay, schedule, signature } = request;
  const key = keyOf(request);
  const refused = sql.fragment``;
  if (parent !== undefined) {
    return { name: 'admission_insert_child_run', ...childClaim(parent, leastMicros) };
  }
  if (experimentId !== undefined) {
    const claim = experimentClaim(experimentId, request.fork?.sourceId);
    return { name: 'admission_insert_experiment_run', claim, refused };
  }
  if (schedule !== undefined) {
    return { name: 'admission_insert_scheduled_run', ...scheduleClaim(schedule.id, runId) };
  }
  if (replay?.jobId !== undefined) return replayClaim(replay, event, runId);
  if (signature !== undefined) return signedClaim(signature, event, runId);
  if (event !== undefined) {
    return {
      name: 'admission_insert_event_run',
      claim: eventClaim(event, runId, sql.fragment`workflow`),
      refused,
    };
  }
  if (key === undefined) {
    const claim = sql.fragment`claim AS (SELECT FROM workflow)`;
    return { name: 'admission_insert_run', claim, refused };
  }
  return {
    name: 'admission_insert_keyed_run',
    refused,
    claim: sql.fragment`claim AS (
      INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
      SELECT workspace_id, id, ${key}, decode(${fingerprintOf(request)}, 'hex'), ${runId} FROM workflow
      ON CONFLICT DO NOTHING RETURNING run_id
    )`,
  };
}

// A separate UPDATE takes over a row past its window. ON CONFLICT DO UPDATE would lock the row for every duplicate
// too, and each would wait for a disk write before the next could read it.
const eventClaim = (
  event: { id: string; windowSeconds: number },
  runId: string,
  entrant: FragmentSqlToken,
) => sql.fragment`
    renewed AS (
      UPDATE webhook_events e SET run_id = ${runId}, received_at = now() FROM ${entrant} w
      WHERE e.workflow_id = w.id AND e.event_id = ${event.id}
        AND e.received_at < now() - ${event.windowSeconds}::int * interval '1 second'
      RETURNING e.run_id
    ), fresh AS (
      INSERT INTO webhook_events (workflow_id, event_id, run_id)
      SELECT id, ${event.id}, ${runId} FROM ${entrant} WHERE NOT EXISTS (SELECT FROM renewed)
      ON CONFLICT DO NOTHING RETURNING run_id
    ), claim AS (
      SELECT run_id FROM renewed UNION ALL SELECT run_id FROM fresh
    )`;

/**
 * Claims the signature, then the event, always in this order to avoid deadlocks. A new signature with an old event
 * would leave a signature without a run: this ends the statement, and the next iteration finds the run of the event.
 */
function signedClaim(signature: SignatureMark, event: RunRequest['event'], runId: string): Claim {
  const signed = sql.fragment`
    signed AS (
      INSERT INTO webhook_signatures (workflow_id, signature, run_id, signed_at)
      SELECT id, ${sql.binary(signature.hash)}, ${runId}, to_timestamp(${signature.signedAt}::bigint) FROM workflow
      ON CONFLICT DO NOTHING RETURNING workflow_id AS id
    )`;
  if (event === undefined) {
    return {
      name: 'admission_insert_signed_run',
      claim: sql.fragment`${signed}, claim AS (SELECT FROM signed)`,
      refused: sql.fragment``,
    };
  }
  return {
    name: 'admission_insert_signed_event_run',
    claim: sql.fragment`${signed}, ${eventClaim(event, runId, sql.fragment`signed`)}`,
    refused: sql.fragment`
      SELECT refuse('event', '{}') FROM signed WHERE NOT EXISTS (SELECT FROM claim)
      UNION ALL`,
  };
}

/**
 * The step of a run starts one run. The lock on the run above keeps it open until the commit: a cancel waits, and then
 * cancels this run, too. Two attempts at the same time break the constraint `runs_one_per_step`. A run that can cost
 * something, at least `leastMicros`, needs room under the caps of the runs above it.
 */
const childClaim = (
  { runId, stepKey, execution }: NonNullable<RunRequest['parent']>,
  leastMicros: number | null,
) => ({
  claim: sql.fragment`
    claim AS (
      SELECT p.depth FROM workflow w JOIN runs p ON p.workspace_id = w.workspace_id
      WHERE p.id = ${runId} AND ${acceptsWorkOf(execution)}
        AND NOT EXISTS (SELECT FROM runs WHERE parent_run_id = ${runId} AND parent_step_key = ${stepKey})
      FOR SHARE OF p
    )`,
  refused: sql.fragment`
      SELECT refuse('depth', '{}') FROM claim WHERE depth >= ${MAX_RUN_DEPTH}::int
      UNION ALL
      SELECT refuse('cap', json_build_object('committed_micros', c.cost_micros, 'limit_micros', c.cap_micros))
      FROM claim CROSS JOIN LATERAL capped_spending(${runId}, '') AS c
      WHERE CASE WHEN ${leastMicros === null} THEN false
                 WHEN c.overrun = 'one_step' THEN c.cost_micros >= c.cap_micros
                 ELSE c.cost_micros + ${leastMicros ?? 0}::bigint > c.cap_micros END
      UNION ALL`,
});

/**
 * An experiment rehearses each of its runs once. The lock keeps it running until the commit: a cancel waits, and then
 * cancels this run, too. Two executions at the same time break the constraint `runs_one_per_experiment`.
 */
const experimentClaim = (experimentId: string, sourceId: string | undefined) => sql.fragment`
    claim AS (
      SELECT j.id FROM workflow w JOIN background_jobs j ON j.workspace_id = w.workspace_id
      WHERE j.id = ${experimentId} AND j.status = 'running'
        AND NOT EXISTS (SELECT FROM runs WHERE experiment_id = ${experimentId} AND forked_from = ${sourceId ?? null})
      FOR SHARE OF j
    )`;

/**
 * A job replays each of its events once. The lock keeps it running until the commit: a cancel waits, and no run starts
 * after it. Two executions at the same time break the constraint `inbound_event_replays_once`.
 */
function replayClaim(
  { eventId, jobId }: NonNullable<RunRequest['replay']>,
  event: RunRequest['event'],
  runId: string,
): Claim {
  const asked = sql.fragment`
    asked AS (
      SELECT w.id FROM workflow w JOIN background_jobs j ON j.workspace_id = w.workspace_id
      WHERE j.id = ${jobId ?? null} AND j.status = 'running'
        AND NOT EXISTS (SELECT FROM inbound_event_replays WHERE job_id = ${jobId ?? null} AND event_id = ${eventId})
      FOR SHARE OF j
    )`;
  const refused = sql.fragment``;
  return event === undefined
    ? {
        name: 'admission_insert_job_run',
        claim: sql.fragment`${asked}, claim AS (SELECT FROM asked)`,
        refused,
      }
    : {
        name: 'admission_insert_job_event_run',
        claim: sql.fragment`${asked}, ${eventClaim(event, runId, sql.fragment`asked`)}`,
        refused,
      };
}

/**
 * Runs of a schedule are admitted one at a time. This statement sees only the first of several concurrent ones; the
 * schedule's newest run shows the others that their snapshot is out of date.
 */
const scheduleClaim = (scheduleId: string, runId: string) => ({
  claim: sql.fragment`
    claim AS (
      UPDATE schedules s SET last_run_id = ${runId}, last_run_at = now()
      FROM workflow w, (SELECT last_run_id FROM schedules WHERE id = ${scheduleId}) AS seen
      WHERE s.id = ${scheduleId} AND s.workspace_id = w.workspace_id AND s.workflow_id = w.id
        AND s.last_run_id IS NOT DISTINCT FROM seen.last_run_id
      RETURNING s.overlap
    )`,
  refused: sql.fragment`
      SELECT refuse('overlap', '{}') FROM claim
      WHERE overlap = 'skip' AND EXISTS (
        SELECT FROM runs WHERE schedule_id = ${scheduleId} AND status IN ('pending', 'running', 'paused'))
      UNION ALL`,
});

/** Counter rows of an unlimited plan, so that concurrent triggers do not wait for each other. */
const COUNTER_SHARDS = 16;
/** A run that counts against no quota. */
export const uncountedRun = sql.fragment`
    spread AS (SELECT 0::bigint AS runs, 0::bigint AS seen
    ), quota AS (SELECT 0::bigint AS runs)`;

/** Counts the run against the monthly quota: a row of `quota` when there is room. */
export const countedRun = sql.fragment`
    spread AS (
      -- Counted while the plan was unlimited, and all runs that are visible without waiting for a lock.
      SELECT coalesce(sum(c.runs) FILTER (WHERE c.shard > 0), 0) AS runs, coalesce(sum(c.runs), 0) AS seen
      FROM claimed w JOIN run_counters c ON c.workspace_id = w.workspace_id AND c.month = ${thisMonth}
    ), quota AS (
      INSERT INTO run_counters AS c (workspace_id, month, shard, runs)
      SELECT workspace_id, ${thisMonth},
             CASE WHEN run_limit IS NULL THEN 1 + floor(random() * ${COUNTER_SHARDS}::int)::int ELSE 0 END, 1
      FROM claimed, spread WHERE run_limit IS NULL OR spread.seen < run_limit
      ON CONFLICT (workspace_id, month, shard) DO UPDATE SET runs = c.runs + 1
      WHERE (SELECT run_limit IS NULL OR c.runs + spread.runs < run_limit FROM claimed, spread)
      RETURNING runs
    )`;
