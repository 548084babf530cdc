import {
  admitRequests,
  type AdmittedKey,
  type Allowance,
  type Charge,
  chargeBatch,
  type Charged,
  findTaken,
  type Payer,
  takeCredits,
} from '#shared/db/data/metering.ts';
import { withCertainty } from '#shared/db/commit-outcome.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { FastifyRequest } from 'fastify';
import { createBatches } from '#api/load/batcher.ts';
import type { DataCost, Meter } from '#api/deps.ts';
import { createThresholdWatch } from './threshold-watch.ts';

/**
 * The limit makes a request wait for at most one statement before its own. With three turns, ten connections of one key
 * share a statement five at a time instead of three.
 */
const BATCHES = { limit: 200, turns: 3 };

/**
 * Counts requests and takes credits in batches per key: a single statement locks the shared rows for many requests, so
 * the requests of a busy key do not queue for them.
 */
export function createMeter({ db, log }: { db: Pool; log: Logger }): Meter {
  const watch = createThresholdWatch({ db, log });
  const admissions = createBatches<Buffer, AdmittedKey | undefined>(BATCHES, async (hashes) => {
    const admitted = await admitRequests(db, hashes[0]!, hashes.length);
    return admitted.length > 0 ? admitted : hashes.map(() => undefined);
  });
  const charges = createBatches<{ payer: Payer; charge: Charge }, Charged>(
    BATCHES,
    async (batch) => {
      const { payer } = batch[0]!;
      const taking = chargeBatch(batch.map(({ charge }) => charge));
      const charged = await withCertainty(
        async () => {
          const taken = await takeCredits(db, payer, taking);
          return taken.length > 0 ? taken : null;
        },
        () => findTaken(db, payer, taking),
      );
      if (charged === null) throw accountGone();
      return charged;
    },
  );

  return {
    admit: async (hash) => {
      const admitted = await admissions.add(hash.toString('latin1'), hash);
      if (admitted === undefined) return undefined;
      const { caller, account } = admitted;
      await watch.look(caller.workspaceId, account.month, 'requests', account.requests.plan);
      return admitted;
    },
    charge: async (request, cost) => {
      if (cost.credits === 0) return;
      const payer = payerOf(request);
      const charge = chargeOf(request, cost);
      const charged = await charges.add(`${payer.keyId} ${payer.month}`, { payer, charge });
      requireTaken(charged, cost);
      note(request, cost, charged);
      await watch.look(payer.workspaceId, payer.month, 'credits', charged.credits.plan);
    },
    chargeWith: async (request, cost, work) => {
      const payer = payerOf(request);
      const { done, charged } = await db.transaction(async (tx) => {
        const done = await work(tx);
        if (cost.credits === 0) return { done, charged: undefined };
        // Last, so that others wait for these rows only during the commit.
        const [charged] = await takeCredits(tx, payer, chargeBatch([chargeOf(request, cost)]));
        if (charged === undefined) throw accountGone();
        requireTaken(charged, cost);
        return { done, charged };
      });
      if (charged !== undefined) {
        note(request, cost, charged);
        await watch.look(payer.workspaceId, payer.month, 'credits', charged.credits.plan);
      }
      return done;
    },
  };
}

const payerOf = ({ dataCall: { caller }, dataAccount: { month } }: FastifyRequest): Payer => ({
  workspaceId: caller.workspaceId,
  keyId: caller.keyId,
  month,
});

const chargeOf = (request: FastifyRequest, cost: DataCost): Charge => ({
  requestId: request.id,
  operation: cost.operation,
  credits: cost.credits,
  records: cost.records,
});

function note(request: FastifyRequest, cost: DataCost, charged: Charged): void {
  request.dataCall.credits += cost.credits;
  request.dataAccount = { ...request.dataAccount, credits: charged.credits };
}

/** Admission creates these rows; only a crash of the database server after it can lose them. */
const accountGone = () => new AppError('unavailable', 'The account of this key is being restored');

/** Throws AppError `credits_exhausted`, which names the exhausted allowance. */
function requireTaken({ taken, plan, credits }: Charged, cost: DataCost): void {
  if (taken) return;
  const [allowance, whose] = lacks(credits.plan, cost.credits)
    ? [credits.plan, `on the ${plan} plan`]
    : [credits.key, 'of this key'];
  throw new AppError(
    'credits_exhausted',
    `Monthly data-credit allowance exhausted (${allowance.used}/${allowance.limit} ${whose})`,
  );
}

const lacks = ({ used, limit }: Allowance, credits: number): boolean =>
  limit !== null && used + credits > limit;
