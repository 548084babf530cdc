import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  type CommonQueryMethods,
  sql,
} from 'slonik';
import { z } from 'zod';
import { AppError } from '../errors.ts';

/**
 * A connection that is lost during a commit leaves open whether the change was written. The caller checks afterwards,
 * on another connection, so that a 503 means that nothing was written.
 */

/** Pauses before each look. A server that restarts, or a wire that was cut, is often back by then. */
const LOOKS_AFTER_MS = [0, 100, 400, 1_500];

const lostCodes = /^(ECONNRESET|EPIPE|ETIMEDOUT|57P0[1-3]|08\w{3})$/;

/** Whether a statement that had been sent lost its connection before the answer came. */
function isLostConnection(error: unknown): boolean {
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth += 1) {
    if (at instanceof BackendTerminatedError || at instanceof BackendTerminatedUnexpectedlyError) {
      return true;
    }
    const { code, context } = at as { code?: unknown; context?: unknown };
    if (typeof code === 'string' && lostCodes.test(code)) return true;
    at = at.cause ?? context;
  }
  return false;
}

const outcomeUnknown = (cause: unknown): AppError =>
  new AppError(
    'unavailable',
    'The connection to the database was lost while the change was written, and whether it was is not known: ' +
      'look the record up, and repeat the request if the change is missing',
    { cause },
  );

/**
 * Executes `act`, a single statement that commits by itself and returns null when it wrote nothing. When its connection
 * is lost, `look` returns what it wrote, or null for nothing, by an id that only this statement has used. Throws
 * AppError `unavailable` when that is unknown too.
 */
export async function withCertainty<T>(
  act: () => Promise<T | null>,
  look: () => Promise<T | null>,
): Promise<T | null> {
  let result: T | null;
  try {
    result = await act();
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    const found = await lookAgain(look, (answer) => answer !== null);
    if (!found.answered) throw outcomeUnknown(error);
    if (found.answer === null) throw error;
    result = found.answer;
  }
  if (result !== null) noteCommit();
  return result;
}

type Answered<T> = { answered: true; answer: T } | { answered: false };

/** Looks until an answer will do, or there is no more time: then the last answer, if one came to the last look. */
async function lookAgain<T>(
  look: () => Promise<T>,
  willDo: (answer: T) => boolean,
): Promise<Answered<T>> {
  let last: Answered<T> = { answered: false };
  for (const pauseMs of LOOKS_AFTER_MS) {
    await sleep(pauseMs);
    last = await look().then(
      (answer) => ({ answered: true, answer }),
      () => ({ answered: false }),
    );
    if (last.answered && willDo(last.answer)) return last;
  }
  return last;
}

const transactions = new WeakMap<object, string>();

/** To be selected by a statement of a transaction whose outcome is to be known: its id. */
export const transactionId = sql.fragment`pg_current_xact_id()::text`;

/** Keeps the id of the transaction that `tx` is of. */
export function noteTransaction(tx: object, id: string): void {
  transactions.set(tx, id);
}

/**
 * Executes a transaction. When the connection is lost during the commit, its outcome is looked up by its id, if one was
 * stored, and the result of `work` is returned if it was committed. Throws AppError `unavailable` when the outcome is
 * unknown.
 */
export async function committed<Tx extends object, T>(
  pool: CommonQueryMethods,
  transact: (work: (tx: Tx) => Promise<T>) => Promise<T>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let done: { result: T; id: string | undefined } | undefined;
  try {
    await transact(async (tx) => {
      const result = await work(tx);
      done = { result, id: transactions.get(tx) };
      return result;
    });
  } catch (error) {
    // Before its COMMIT was sent nothing of a transaction is there.
    if (done?.id === undefined || !isLostConnection(error)) throw error;
    const { id } = done;
    const ended = await lookAgain(
      () => statusOf(pool, id),
      (status) => status !== 'in progress',
    );
    if (!ended.answered || ended.answer === 'in progress') throw outcomeUnknown(error);
    if (ended.answer !== 'committed') throw error;
  }
  if (done === undefined) throw new Error('a transaction without a result');
  if (done.id !== undefined) noteCommit();
  return done.result;
}

/** `committed`, `aborted` or `in progress`; null when it is too long ago for Postgres to know. */
async function statusOf(pool: CommonQueryMethods, id: string): Promise<string | null> {
  const row = z.object({ status: z.string().nullable() });
  // In a transaction of its own, since within another one, as that of an export, Slonik lets no other statement through.
  return pool.transaction((tx) =>
    tx.oneFirst(sql.prepared('transaction_status', row)`
      SELECT pg_xact_status(${id}::xid8) AS status
    `),
  );
}

const scope = new AsyncLocalStorage<{ committed: boolean }>();

/** Runs a request, so that it can be asked within it whether it has changed anything. */
export function withCommitsNoted<T>(run: () => T): T {
  return scope.run({ committed: false }, run);
}

/** Whether an act of this request has been committed. */
export const hasCommitted = (): boolean => scope.getStore()?.committed ?? false;

function noteCommit(): void {
  const noted = scope.getStore();
  if (noted !== undefined) noted.committed = true;
}
