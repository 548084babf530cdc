import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError, conflict } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import { type Db, type QuerySqlToken, sql, statement } from '#shared/db/pool.ts';
import type { SignatureMark } from '#shared/db/inbound/webhooks.ts';
import { runOfStart } from '#shared/db/events/starts.ts';
import { readChild } from '#shared/db/children/steps.ts';
import { acceptsWorkOf } from './row.ts';
import { type RunRequest, storedRehearsal } from './run-request.ts';

/** A digest of everything that requests with the same idempotency key must have in common. */
export function fingerprintOf({ input, fork, version, adHocGraph, rehearsal }: RunRequest): string {
  const { copies: _copies, ...from } = fork ?? {};
  // The guards before its nodes are not part of the request.
  const { guarded: _guarded, ...rules } = storedRehearsal(rehearsal) ?? {};
  const rehearsed = rehearsal === undefined ? null : rules;
  const plain = fork === undefined && adHocGraph === undefined;
  // Stored fingerprints contain the graph under this name.
  const asked = plain ? input : { input, version, drawn: adHocGraph, ...from, rehearsed };
  return createHash('sha256').update(canonicalJson(asked)).digest('hex');
}

/**
 * Idempotency keys are separate for each kind of request that starts runs: for a workflow, for its draft, to rerun a
 * run, to fork it, and to replay an event.
 */
export function keyOf({
  idempotencyKey: key,
  fork,
  adHocGraph,
  replay,
}: RunRequest): string | undefined {
  if (key === undefined) return undefined;
  if (replay !== undefined) return [replay.eventId, 'replay', key].join('/');
  if (fork === undefined) return adHocGraph === undefined ? key : `draft/${key}`;
  return [fork.sourceId, fork.fromStep === undefined ? 'rerun' : 'fork', key].join('/');
}

const claimRow = z.object({ run_id: z.string(), fingerprint: z.string() });

/** The existing run of the request's signature, event, start or idempotency key. */
export async function findReplay(db: Db, request: RunRequest): Promise<string | undefined> {
  const { signature, experimentId, replay, parent, event, start } = request;
  if (start !== undefined) return runOfStart(db, start);
  if (signature !== undefined) {
    const signed = await runOf(db, signing(request, signature));
    if (signed !== undefined) return signed;
  }
  if (experimentId !== undefined) return runOf(db, rehearsing(experimentId, request.fork));
  if (replay?.jobId !== undefined) {
    const replayed = await runOf(db, replaying(replay));
    if (replayed !== undefined) return replayed;
  }
  if (parent !== undefined) {
    return (await readChild(db, { run_id: parent.runId, step_key: parent.stepKey }))?.id;
  }
  if (event !== undefined) return runOf(db, receiving(request, event));
  const key = keyOf(request);
  if (key === undefined) return undefined;
  const earlier = await db.maybeOne(statement(claimRow)`
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

const runRow = z.object({ run_id: z.string().nullable() });

/** Throws AppError `conflict` if the claim belongs to an event, which a webhook sent instead of starting a run. */
async function runOf(db: Db, claim: QuerySqlToken<typeof runRow>): Promise<string | undefined> {
  const row = await db.maybeOne(claim);
  if (row?.run_id === null) throw conflict('The webhook has already sent it as an event');
  return row?.run_id;
}

const rehearsing = (experimentId: string, fork: RunRequest['fork']) =>
  statement(runRow)`
    SELECT id AS run_id FROM runs WHERE experiment_id = ${experimentId} AND forked_from = ${fork?.sourceId ?? null}`;

const replaying = ({ eventId, jobId }: NonNullable<RunRequest['replay']>) =>
  statement(runRow)`
    SELECT run_id FROM inbound_event_replays WHERE event_id = ${eventId} AND job_id = ${jobId ?? null}`;

const signing = ({ actor, workflowId }: RunRequest, { hash }: SignatureMark) =>
  statement(runRow)`
    SELECT s.run_id FROM webhook_signatures s JOIN workflows w ON w.id = s.workflow_id
    WHERE s.workflow_id = ${workflowId} AND s.signature = ${sql.binary(hash)}
      AND w.workspace_id = ${actor.workspaceId}`;

const receiving = (
  { actor, workflowId }: RunRequest,
  { id, windowSeconds }: NonNullable<RunRequest['event']>,
) =>
  statement(runRow)`
    SELECT e.run_id FROM webhook_events e JOIN workflows w ON w.id = e.workflow_id
    WHERE e.workflow_id = ${workflowId} AND e.event_id = ${id} AND w.workspace_id = ${actor.workspaceId}
      AND e.received_at >= now() - ${windowSeconds}::int * interval '1 second'`;

/** Throws AppError `conflict` unless the parent still accepts work from its execution. */
export async function requireParent(
  db: Db,
  { runId, execution }: NonNullable<RunRequest['parent']>,
): Promise<void> {
  const open = await db.exists(statement(z.object({}))`
    SELECT FROM runs WHERE id = ${runId} AND ${acceptsWorkOf(execution)}
  `);
  if (!open) throw conflict('The run that starts it does not accept its work');
}
