import { randomUUID } from 'node:crypto';
import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  type ClaimedDelivery,
  claimDelivery,
  type DeliveryRound,
  recordAttempt,
  releaseAttempt,
} from '#shared/db/webhooks/attempts.ts';
import { secretContext } from '#shared/db/webhooks/endpoints.ts';
import type { Pool } from '#shared/db/pool.ts';
import { messageOf } from '#shared/errors.ts';
import {
  type DeliveryActivities,
  FAILURE_DELIVERY_ATTEMPT,
  FAILURE_DELIVERY_DEAD,
  FAILURE_DELIVERY_POSTPONED,
  MAX_DELIVERY_BACKOFF_MS,
} from '#shared/execution.ts';
import type { Config } from '#shared/platform/config.ts';
import { postDelivery, type PostOutcome } from '#shared/platform/calls/delivery-post.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import { untilStored } from './until-stored.ts';

export interface DeliveryDeps {
  db: Pool;
  config: Pick<Config, 'deliveries'>;
  egress: Egress;
  /** Undefined without an encryption key: then no secret can be decrypted. */
  sealer: Sealer | undefined;
  log: Logger;
}

const HEARTBEAT_MS = 2_000;
/** The delay after an attempt that does not count. It doubles, with jitter. */
const FIRST_RETURN_MS = 500;
const LONGEST_RETURN_MS = 30_000;
/** The number of consecutive internal errors, over about 15 minutes, before they count as attempts of the delivery. */
const MAX_FAULTS = 35;
const RECORD_TRIES = 5;

/**
 * One attempt at a delivery: takes a slot of the endpoint, sends, and records the result. Only a recorded attempt
 * counts: if a worker dies, the database is unavailable or this machine fails, the attempt is repeated with the same
 * ids.
 */
export function createAttemptDelivery(deps: DeliveryDeps): DeliveryActivities['attemptDelivery'] {
  return async (call) => {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    try {
      const scope = {
        workspaceId: call.workspace_id,
        deliveryId: call.delivery_id,
        round: call.round,
      };
      return await attempt(deps, scope, context.cancellationSignal);
    } catch (error) {
      if (error instanceof ApplicationFailure) throw error;
      deps.log.warn({ err: error, deliveryId: call.delivery_id }, 'could not process a delivery');
      // Without the cause: the history stores failures completely.
      throw postponed('An internal error of this service', FIRST_RETURN_MS);
    } finally {
      clearInterval(beat);
    }
  };
}

async function attempt(deps: DeliveryDeps, scope: DeliveryRound, signal: AbortSignal) {
  const claim = randomUUID();
  const delivery = await claimDelivery(deps.db, scope, claim);
  if (delivery === undefined) return 'gone';
  if (delivery.due_in_ms > 0) throw postponed('The retry is not due yet', delivery.due_in_ms);
  if (!delivery.permitted) {
    throw postponed('All delivery slots of this endpoint are in use', returnMs(delivery.waits));
  }
  const began = performance.now();
  const outcome = await send(deps, scope, delivery, signal);
  if (outcome.fault && delivery.faults < MAX_FAULTS) {
    await releaseAttempt(deps.db, scope, claim);
    throw postponed(outcome.error, returnMs(delivery.faults));
  }
  const nextInMs = pauseAfter(delivery.attempts + 1, deps.config.deliveries.backoffMs, outcome);
  const result = await recordSurely(() =>
    recordAttempt(deps.db, scope, {
      claim,
      startedAt: delivery.started_at,
      durationMs: Math.round(performance.now() - began),
      statusCode: outcome.status,
      error: outcome.error ?? null,
      nextInMs,
    }),
  );
  // Another attempt was recorded, or this one was and the response was lost: the row has the next step.
  if (result === undefined) throw postponed('The delivery was already recorded', FIRST_RETURN_MS);
  if (result.status === 'delivered') return 'delivered';
  const message = outcome.error ?? 'Not delivered';
  if (result.status === 'dead') {
    throw ApplicationFailure.nonRetryable(message, FAILURE_DELIVERY_DEAD);
  }
  throw ApplicationFailure.create({
    message,
    type: FAILURE_DELIVERY_ATTEMPT,
    nextRetryDelay: nextInMs,
  });
}

async function send(
  { egress, sealer, log }: DeliveryDeps,
  { workspaceId, deliveryId }: DeliveryRound,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<PostOutcome> {
  const sealed = [delivery.secret, delivery.previous_secret].filter((secret) => secret !== null);
  let secrets: string[];
  try {
    if (sealer === undefined) throw new Error('ENCRYPTION_KEY is not set');
    const place = secretContext(workspaceId, delivery.endpoint_id);
    secrets = sealed.map((secret) => sealer.open(secret, place));
  } catch (error) {
    log.error({ err: error, workspaceId, deliveryId }, "could not open an endpoint's secret");
    return { fault: true, status: null, error: "The endpoint's secret cannot be opened" };
  }
  const outcome = await postDelivery(egress, { ...delivery, deliveryId, secrets, signal });
  if (outcome.error !== undefined) {
    const { status, error: reason } = outcome;
    log.debug({ workspaceId, deliveryId, status, reason }, 'could not deliver a webhook');
  }
  return outcome;
}

/** In ms: the backoff after the n-th attempt, or longer if the receiver requests it, but at most an hour. */
export function pauseAfter(
  attempts: number,
  firstMs: number,
  { retryAfterMs = 0 }: Pick<PostOutcome, 'retryAfterMs'>,
): number {
  const backoff = Math.min(MAX_DELIVERY_BACKOFF_MS, firstMs * 2 ** (attempts - 1));
  return Math.round(Math.min(MAX_DELIVERY_BACKOFF_MS, Math.max(backoff, retryAfterMs)));
}

function returnMs(times: number): number {
  const ms = Math.min(LONGEST_RETURN_MS, FIRST_RETURN_MS * 2 ** Math.min(times, 10));
  return Math.round(ms * (0.75 + Math.random() / 2));
}

const postponed = (message: string, delayMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: FAILURE_DELIVERY_POSTPONED,
    nextRetryDelay: delayMs,
  });

/** Retries the write, because an unrecorded delivery would be sent again. */
const recordSurely = <T>(record: () => Promise<T>): Promise<T> =>
  untilStored(record, { firstMs: 500, longestMs: 4_000 }, (error, tries) => {
    if (tries === RECORD_TRIES) throw new Error(messageOf(error), { cause: error });
  });
