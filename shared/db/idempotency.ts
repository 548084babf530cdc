import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { noteTransaction, transactionId } from './commit-outcome.ts';
import { type Db, type Pool, sql, statement, type Tx } from './pool.ts';

/**
 * Requests with an `Idempotency-Key`, except those that start runs. The answer is a row that is written in the
 * transaction of the act, so it exists exactly if the act was committed. An advisory lock of that transaction marks the
 * key as in use: when the process dies, its connection releases both.
 */

/** How long an answer is returned again. */
const KEPT_HOURS = 24;
/** Answers deleted per batch of a sweep. Each can have more than a megabyte. */
const BATCH = 500;

/** What a key belongs to, and what the request with it contains. */
export interface KeyedRequest {
  workspaceId: string;
  /** The API key, or the member of the session. */
  credential: string;
  /** The method and the path, or the tool. */
  operation: string;
  key: string;
  /** Everything else that requests with the same key must have in common. */
  content: Json;
}

/** A key as the database knows it. */
export interface AnswerKey {
  workspaceId: string;
  id: Buffer;
  request: Buffer;
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

export const answerKeyOf = (request: KeyedRequest): AnswerKey => ({
  workspaceId: request.workspaceId,
  id: sha256(
    JSON.stringify([request.workspaceId, request.credential, request.operation, request.key]),
  ),
  request: sha256(canonicalJson(request.content)),
});

/** Identifies a stored answer, for its seal. */
export const answerPlace = ({ workspaceId, id }: Pick<AnswerKey, 'workspaceId' | 'id'>): string =>
  `idempotent_answers/${workspaceId}/${id.toString('hex')}`;

export interface StoredAnswer {
  answer: string;
  sealed: boolean;
}

const answerRow = z.object({ same: z.boolean(), answer: z.string(), sealed: z.boolean() });

const isKept = sql.fragment`created_at > now() - ${KEPT_HOURS}::int * interval '1 hour'`;

/**
 * The answer of an earlier request with this key, within 24 hours. Throws AppError `idempotency_mismatch` if that request
 * was a different one.
 */
export async function findAnswer(
  db: Db,
  { workspaceId, id, request }: AnswerKey,
): Promise<StoredAnswer | undefined> {
  const row = await db.maybeOne(statement(answerRow)`
    SELECT request = ${sql.binary(request)} AS same, answer, sealed FROM idempotent_answers
    WHERE workspace_id = ${workspaceId} AND id = ${sql.binary(id)} AND ${isKept}
  `);
  if (row === null) return undefined;
  if (row.same) return row;
  throw new AppError(
    'idempotency_mismatch',
    'This Idempotency-Key was used with another request; use a new key',
  );
}

/** The key was used by a request that has ended since the caller looked for its answer. */
export class AnsweredMeanwhile extends AppError {
  constructor() {
    super('key_in_use', 'A request with this Idempotency-Key has just ended');
  }
}

/**
 * Takes the key until the transaction ends. Throws AppError `key_in_use` if another request has it, and AnsweredMeanwhile
 * if one has an answer.
 */
export async function takeKey(tx: Tx, key: AnswerKey): Promise<void> {
  const free = await tx.oneFirst(statement(z.object({ free: z.boolean() }))`
    SELECT pg_try_advisory_xact_lock(${String(key.id.readBigInt64BE())}::bigint) AS free
  `);
  if (!free) {
    throw new AppError(
      'key_in_use',
      'A request with this Idempotency-Key is in progress; repeat this one later to get its answer',
    );
  }
  // A separate statement: its snapshot includes what the previous holder of the lock has committed.
  if ((await findAnswer(tx, key)) !== undefined) throw new AnsweredMeanwhile();
}

/** Stores the answer of a key that this transaction has taken. Replaces one that has expired. */
export async function storeAnswer(
  tx: Tx,
  { workspaceId, id, request }: AnswerKey,
  { answer, sealed }: StoredAnswer,
): Promise<void> {
  const stored = z.object({ transaction: z.string(), created_at: z.string() });
  const { transaction, created_at } = await tx.one(statement(stored)`
    INSERT INTO idempotent_answers (workspace_id, id, request, answer, sealed)
    VALUES (${workspaceId}, ${sql.binary(id)}, ${sql.binary(request)}, ${answer}, ${sealed})
    ON CONFLICT (workspace_id, id) DO UPDATE
    SET request = excluded.request, answer = excluded.answer, sealed = excluded.sealed, created_at = now()
    RETURNING ${transactionId} AS transaction, created_at::text AS created_at
  `);
  // Not every act writes an audit entry from here.
  noteTransaction(
    tx,
    transaction,
    sql.fragment`
      SELECT FROM idempotent_answers
      WHERE workspace_id = ${workspaceId} AND id = ${sql.binary(id)} AND created_at = ${created_at}::timestamptz`,
  );
}

/** Deletes a batch of the answers that are no longer returned. Returns how many. */
export async function deleteExpiredAnswers(db: Db, workspaceId: string): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM idempotent_answers WHERE workspace_id = ${workspaceId} AND id IN (
      SELECT id FROM idempotent_answers
      WHERE workspace_id = ${workspaceId} AND NOT ${isKept}
      ORDER BY created_at LIMIT ${BATCH}::int FOR UPDATE SKIP LOCKED)
  `);
  return rowCount;
}

/** What happens in the transaction of an act, around its statements. */
interface Around<Done> {
  first: (tx: Tx) => Promise<void>;
  /** `done` is what the act returned. */
  last: (tx: Tx, done: Done) => Promise<void>;
}

const ignore = (): undefined => undefined;

/**
 * Runs an act, whose first transaction on the given database begins with `first` and ends with `last`. It is committed
 * after the act has returned. So the act must not wait for other statements on that database after its transaction: they
 * wait for the commit. A transaction that fails can be followed by another one. Rejects with the error of the act, which
 * then has changed nothing, or that of the commit.
 */
export async function actWithin<Done>(
  db: Pool,
  act: (db: Pool) => Promise<Done>,
  { first, last }: Around<Done>,
): Promise<Done> {
  const acted = Promise.withResolvers<Done>();
  acted.promise.catch(ignore);
  let committed: Promise<void> | undefined;
  const begin: Pool['transaction'] = (work, retries) =>
    new Promise((resolve, reject) => {
      let worked = false;
      committed = db.transaction(async (tx) => {
        // The caller has the result of the first attempt.
        if (worked) throw new AppError('unavailable', 'The change could not be committed');
        await first(tx);
        const result = await work(tx);
        worked = true;
        resolve(result);
        await last(tx, await acted.promise);
      }, retries);
      committed.catch((error: unknown) => {
        // Nothing was done, so the act can try again.
        if (!worked) committed = undefined;
        reject(error as Error);
      });
    });
  const own = new Proxy(db, {
    get: (target, name, receiver): unknown => {
      if (name === 'transaction' && committed === undefined) return begin;
      const method: unknown = Reflect.get(target, name, receiver);
      if (committed === undefined || typeof method !== 'function') return method;
      const ended = committed.catch(ignore);
      return async (...args: unknown[]): Promise<unknown> => {
        await ended;
        return Reflect.apply(method, target, args) as unknown;
      };
    },
  });
  try {
    const done = await act(own);
    if (committed === undefined) throw new Error('an act that is not one transaction');
    acted.resolve(done);
    await committed;
    return done;
  } catch (error) {
    acted.reject(error);
    await committed?.catch(ignore);
    throw error;
  }
}
