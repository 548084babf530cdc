import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { Failure } from '#shared/contract/runs/run.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { conflict, notFound } from '#shared/errors.ts';
import type { FailedStep, FailureCall, FailureVerdict } from '#shared/execution.ts';
import { runError } from '#shared/graph/run-error.ts';
import type { Json } from '#shared/json.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { anotherAttempt } from './pending-writes.ts';
import { recordGovernanceEvent } from '#shared/db/policies/governance.ts';
import { newId } from '#shared/crypto/ids.ts';
import { MAX_PENDING } from '#shared/db/webhooks/outbound-events.ts';
import { stoppedVerdict } from '#shared/db/money/blocked.ts';
import { lockBelow } from '#shared/db/children/below.ts';
import { noStart } from '#shared/db/children/starts.ts';
import { enqueue, enqueueLater, type OutboxRow, queueAlert } from './outbox.ts';
import { type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { appendFrames, writePending } from './log.ts';
import { stopClocks, acceptsWorkOf } from './row.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/**
 * All ways that runs end other than success. Each end is one compare-and-set on the status, with its terminal frame,
 * its event for webhook endpoints and, if `alerts` is set because channels are configured, one alert in the same
 * transaction. So a run has exactly one terminal event, regardless of races.
 */

interface RunFailure {
  kind: Failure['kind'];
  node_id?: string;
  /** It was cancelled because its parent ended. */
  with_parent?: true;
  /** It was cancelled by this event. */
  event_id?: string;
}

const placeRow = z.object({
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number(),
});

const failing = z.object({
  wanted: z.boolean(),
  superseded: z.boolean(),
  failures_granted: z.number(),
});

/**
 * A run that has ended. If it has a parent, a notice for the parent is queued. If it had a slot of its workflow's limit,
 * the next run can start.
 */
export interface EndedRun {
  hasParent: boolean;
  hasSlot: boolean;
}

/** `ended`: this report ended the run. */
type FailureReport = FailureVerdict & { ended?: EndedRun };

/**
 * Handles the execution's n-th failure. Reads the ledger first: steps that are finished there did not fail. A resume
 * that was granted for failure n lets the execution retry; otherwise the run ends `failed`. Idempotent: a repeated call
 * returns the earlier verdict.
 */
export async function reportFailure(
  db: Pool,
  call: FailureCall & { execution: string; alerts: boolean },
): Promise<FailureReport> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(failing)`
      SELECT (${acceptsWorkOf(call.execution)}) AS wanted, (${call.execution} = ANY(superseded) OR resuming) AS superseded,
             failures_granted
      FROM runs WHERE id = ${call.run_id} FOR UPDATE
    `);
    if (run === null) return { verdict: 'fail', error: 'Run not found' };
    if (run.superseded) {
      // The resume that replaced this execution takes care of the rest.
      await tx.query(statement(z.object({}))`
        UPDATE runs SET failures_reported = greatest(failures_reported, ${call.n}::int),
          failures_granted = greatest(failures_granted, ${call.n}::int)
        WHERE id = ${call.run_id}
      `);
      return { verdict: 'fail', error: 'Another execution continues this run' };
    }
    const outputs = await finishedOutputs(tx, call);
    const continues =
      Object.keys(outputs).length > 0 || (run.wanted && run.failures_granted >= call.n);
    if (continues) {
      // The failed steps will be retried, except those whose errors were caught.
      const control = call.control.filter(
        ({ status, caught }) => status !== 'failed' || caught !== undefined,
      );
      if (run.wanted) await writePending(tx, { ...call, control });
      return Object.keys(outputs).length > 0
        ? { verdict: 'finished', outputs }
        : { verdict: 'resume' };
    }
    const error = errorOf(call.failed[0]);
    await tx.query(statement(z.object({}))`
      UPDATE runs SET failures_reported = greatest(failures_reported, ${call.n}::int) WHERE id = ${call.run_id}
    `);
    if (!run.wanted) return { verdict: 'fail', error };
    await writePending(tx, call);
    await writeFailedSteps(tx, call);
    await recordStops(tx, call);
    const failure: RunFailure = {
      kind: call.failed[0]?.reason ?? 'node',
      node_id: call.failed[0]?.node_id,
    };
    const { execution, alerts } = call;
    const ended = await endFailed(tx, { runId: call.run_id, error, failure, execution, alerts });
    return { verdict: 'fail', error, ended };
  });
}

function errorOf(failed: FailedStep | undefined): string {
  if (failed === undefined) return 'Failed';
  return runError(failed);
}

async function finishedOutputs(tx: Tx, call: FailureCall): Promise<Record<string, Json>> {
  const rows = await tx.any(statement(z.object({ step_key: z.string(), output: storedJson() }))`
    SELECT step_key, output FROM steps
    WHERE run_id = ${call.run_id} AND status = 'success'
      AND step_key = ANY(${sql.array(
        call.failed.map((step) => step.step_key),
        'text',
      )})
  `);
  return Object.fromEntries(rows.map((row) => [row.step_key, row.output]));
}

const endedAs = sql.fragment`CASE f.reason WHEN 'unrecorded' THEN 'unrecorded' ELSE 'failed' END`;

/**
 * Writes the end of a step that could not write it itself: an attempt that timed out, or a template that could not be
 * rendered.
 */
async function writeFailedSteps(tx: Tx, call: FailureCall): Promise<void> {
  const rows = await tx.any(statement(z.object({ step_key: z.string(), opened: z.boolean() }))`
    WITH run AS (SELECT id, resumed_count AS epoch, frame_seq FROM runs WHERE id = ${call.run_id})
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, ordinal, status, epoch, finished_at, error,
                            error_kind)
    SELECT run.id, f.step_key, f.node_id, f.label, f.kind, f.iteration, run.frame_seq + 1, ${endedAs}, run.epoch, clock_timestamp(), f.error,
           CASE f.reason WHEN 'rejected' THEN 'rejected' WHEN 'node' THEN 'node' END
    FROM run, json_to_recordset(${JSON.stringify(call.failed)}::json)
           AS f (step_key text, node_id text, label text, kind text, iteration int[], error text, reason text)
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = excluded.status, error = excluded.error, error_kind = excluded.error_kind, finished_at = excluded.finished_at, claim = NULL, claim_until = NULL,
      errors = greatest(s.errors, 1), epoch = excluded.epoch,
      ${anotherAttempt(sql.fragment`s.status IN ('failed', 'cancelled')`)}
    WHERE s.status IN ('running', 'paused') OR (s.status IN ('failed', 'cancelled') AND s.epoch < excluded.epoch)
    RETURNING new.step_key, coalesce(old.epoch < new.epoch, true) AS opened
  `);
  const written = new Map(rows.map((row) => [row.step_key, row.opened]));
  const frames: StreamFrame[] = [];
  for (const step of call.failed) {
    const opened = written.get(step.step_key);
    if (opened === undefined) continue;
    const of = { run_id: call.run_id, node_id: step.node_id };
    if (opened) frames.push({ ...of, type: 'step_started', label: step.label });
    frames.push({ ...of, type: 'step_failed', error: step.error });
  }
  await appendFrames(tx, call.run_id, frames);
}

/** Records a governance event for a stop by a cap or a budget. */
async function recordStops(tx: Tx, call: FailureCall): Promise<void> {
  for (const step of call.failed) {
    if (step.reason !== 'budget') continue;
    const place = await tx.one(statement(placeRow)`
      SELECT workspace_id, workflow_id, workflow_version FROM runs WHERE id = ${call.run_id}
    `);
    await recordGovernanceEvent(tx, {
      ...stoppedVerdict(step.error, step.evidence ?? {}),
      workspaceId: place.workspace_id,
      workflowId: place.workflow_id,
      version: place.workflow_version,
      runId: call.run_id,
      nodeId: step.node_id,
    });
  }
}

interface FailedEnd {
  runId: string;
  error: string;
  failure: RunFailure;
  execution?: string;
  /** Whether the service has an address for alerts. `none`: the end sends no alert. */
  alerts: boolean | 'none';
}

/** Ends a locked, open run as `failed`, and cancels the open runs below it. Resuming the run also resumes those. */
async function endFailed(tx: Tx, end: FailedEnd): Promise<EndedRun> {
  const below = await lockBelow(tx, [end.runId]);
  const ended = await endOneFailed(tx, end);
  await cancelBelow(tx, below);
  return ended;
}

/** Cancels these locked, open runs because a run above them ends. The alert of that run is sufficient. */
export async function cancelBelow(tx: Tx, below: readonly string[]): Promise<void> {
  for (const runId of below) {
    await endOneFailed(tx, {
      runId,
      error: 'Cancelled with the run that started it',
      failure: { kind: 'cancelled', with_parent: true },
      alerts: 'none',
    });
    await enqueueLater(tx, { runId, kind: 'cancel' });
  }
}

const endedRow = z.object({ has_parent: z.boolean(), has_slot: z.boolean() });

/** Sets a locked, open run to `failed`, with its only `run_failed` frame, event and alert. */
async function endOneFailed(tx: Tx, end: FailedEnd): Promise<EndedRun> {
  const { has_parent: hasParent, has_slot: hasSlot } = await tx.one(statement(endedRow)`
    WITH run AS (
      UPDATE runs SET ${stopClocks}, status = 'failed', error = ${end.error},
        failure = ${JSON.stringify(end.failure)}::json,
        temporal_run_id = coalesce(${end.execution ?? null}, temporal_run_id)
      WHERE id = ${end.runId} RETURNING id, workspace_id, parent_run_id, created_at, rehearsal, limits
    ), ${noStart}, used AS (
      INSERT INTO usage_deltas (workspace_id, day, failed) SELECT workspace_id, created_at::date, 1 FROM run WHERE rehearsal IS NULL
    )
    SELECT parent_run_id IS NOT NULL AS has_parent, limits IS NOT NULL AS has_slot FROM run
  `);
  await tx.query(statement(z.object({}))`
    SELECT close_steps_2(${end.runId}), close_holds_1(ARRAY[${end.runId}], 'settled'),
           announce_end_1(run => ${end.runId}, event => ${newId('outboundEvent')}, event_type => 'run.failed',
                          most_pending => ${MAX_PENDING}, tells_parent => ${end.failure.with_parent !== true})
  `);
  await appendFrames(tx, end.runId, [{ run_id: end.runId, type: 'run_failed', error: end.error }]);
  if (end.alerts !== 'none') {
    const { runId, error: text, alerts: byService } = end;
    await queueAlert(tx, { runId, event: 'failed', text, byService });
  }
  return { hasParent, hasSlot };
}

/**
 * Ends an open run outside its execution's normal course (cancelled in the Temporal UI, workflow code failed, execution
 * lost). `execution` undefined: any execution. Returns undefined when the run had already ended.
 */
export async function abandonRun(
  db: Pool,
  end: {
    runId: string;
    kind: 'cancelled' | 'crash';
    error: string;
    execution?: string;
    /** The history cannot be replayed, so a resume starts from the ledger. */
    fromLedger?: boolean;
    /** Only if its execution still counts as missing: not after a resume. */
    whileLost?: boolean;
    alerts: boolean;
  },
): Promise<EndedRun | undefined> {
  return db.transaction(async (tx) => {
    const open = await lockOpen(tx, end);
    if (!open) return undefined;
    const ended = await endFailed(tx, { ...end, failure: { kind: end.kind } });
    if (end.fromLedger === true) {
      await tx.query(statement(z.object({}))`
        UPDATE runs SET from_ledger = true WHERE id = ${end.runId}
      `);
    }
    return ended;
  });
}

async function lockOpen(
  tx: Tx,
  {
    runId,
    execution,
    whileLost = false,
  }: { runId: string; execution?: string; whileLost?: boolean },
): Promise<boolean> {
  const row = await tx.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM runs
    WHERE id = ${runId} AND status IN ('pending', 'running', 'paused')
      AND NOT (${execution ?? ''} = ANY(superseded)) AND NOT (resuming AND ${execution !== undefined})
      AND NOT (${whileLost} AND lost_since IS NULL) FOR UPDATE
  `);
  return row !== null;
}

export interface Cancel {
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>;
  runId: string;
  /** False for a part of an action that has its own audit entry. */
  audited?: boolean;
  /** The event that cancels it. */
  event?: { id: string; name: string };
}

/** A member's cancel: the run ends immediately, and its execution is notified after the commit. */
export async function cancelRun(
  db: Pool,
  cancel: Cancel & { alerts: boolean },
): Promise<EndedRun & { row: OutboxRow }> {
  const { actor, runId } = cancel;
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(z.object({ status: z.string() }))`
      SELECT status FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (run === null) throw notFound('Run');
    if (run.status === 'success' || run.status === 'failed') {
      throw conflict(
        `Run is ${run.status}: only a pending, running or paused run can be cancelled`,
      );
    }
    return settleCancelled(tx, { ...cancel, by: actor.name ?? 'an API key' });
  });
}

/** Ends a locked, open run as cancelled, and queues the cancel of its execution. */
export async function settleCancelled(
  tx: Tx,
  cancel: Cancel & { by: string; alerts: boolean },
): Promise<EndedRun & { row: OutboxRow }> {
  const { actor, runId, by, alerts, event, audited = true } = cancel;
  const error = `Cancelled by ${by}`;
  const failure: RunFailure = {
    kind: 'cancelled',
    ...(event !== undefined && { event_id: event.id }),
  };
  const ended = await endFailed(tx, { runId, error, failure, alerts });
  if (audited) {
    const details = event === undefined ? undefined : { event_id: event.id, event: event.name };
    await recordAudit(tx, actor, { action: 'cancel', targetType: 'run', targetId: runId, details });
  }
  return { ...ended, row: await enqueue(tx, { runId, kind: 'cancel' }) };
}

/** Cancels a run because newer ones of its key take its slot. Undefined if it has ended. */
export async function cancelSuperseded(
  db: Pool,
  { runId, workspaceId, alerts }: { runId: string; workspaceId: string; alerts: boolean },
): Promise<(EndedRun & { row: OutboxRow }) | undefined> {
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(z.object({ id: z.string() }))`
      SELECT id FROM runs WHERE id = ${runId} AND status IN ('pending', 'running', 'paused') FOR UPDATE
    `);
    if (run === null) return undefined;
    const actor = { workspaceId, id: null, name: null };
    return settleCancelled(tx, { actor, runId, by: 'a newer run with its key', alerts });
  });
}
