import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  type CommonQueryMethods,
  type FragmentSqlToken,
  sql,
} from 'slonik';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { statement } from './statement.ts';

/**
 * When the connection is lost during a commit, it is unknown whether the change was written. The caller checks on
 * another connection, so that a 503 means that nothing was written.
 */

/** Delays before each lookup. After one of them, a restarting server or a broken network has often recovered. */
const LOOKS_AFTER_MS = [0, 100, 400, 1_500];

const lostCodes = /^(ECONNRESET|EPIPE|ETIMEDOUT|57P0[1-3]|08\w{3})$/;

/** Whether the connection was lost after a statement was sent and before its response arrived. */
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
    'The connection to the database was lost during the write, and the outcome is unknown: ' +
      'read the record, and repeat the request if the change is missing',
    { cause },
  );

/**
 * Executes `act`, a single statement with its own commit, which returns null when it wrote nothing. If the connection
 * is lost, `look` finds what it wrote by an id that only this statement uses, or returns null. Throws AppError
 * `unavailable` when the lookup fails too.
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

/**
 * Repeats the lookup until `accept` returns true or no attempts are left. Returns the result of the last lookup that
 * succeeded.
 */
async function lookAgain<T>(
  look: () => Promise<T>,
  accept: (answer: T) => boolean,
): Promise<Answered<T>> {
  let last: Answered<T> = { answered: false };
  for (const pauseMs of LOOKS_AFTER_MS) {
    await sleep(pauseMs);
    last = await look().then(
      (answer) => ({ answered: true, answer }),
      () => ({ answered: false }),
    );
    if (last.answered && accept(last.answer)) return last;
  }
  return last;
}

/** What is needed to determine whether a transaction was committed. */
interface Trace {
  id: string;
  row: FragmentSqlToken;
}

const traces = new WeakMap<object, Trace>();

/** The transaction's id. Select it in a statement of a transaction whose outcome must be traceable. */
export const transactionId = sql.fragment`pg_current_xact_id()::text`;

/**
 * Stores the id of the transaction that `tx` belongs to, and a query for a row that only this transaction writes. The
 * id shows whether the transaction is in progress, but not whether it was committed: a database server that crashes
 * before the commit assigns the id again.
 */
export function noteTransaction(tx: object, id: string, row: FragmentSqlToken): void {
  traces.set(tx, { id, row });
}

/**
 * Executes a transaction. If the connection is lost during the commit and a trace was stored, looks up the outcome, and
 * returns the result of `work` if it was committed. Throws AppError `unavailable` when the outcome is unknown.
 */
export async function committed<Tx extends object, T>(
  pool: CommonQueryMethods,
  transact: (work: (tx: Tx) => Promise<T>) => Promise<T>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let done: { result: T; trace: Trace | undefined } | undefined;
  try {
    await transact(async (tx) => {
      const result = await work(tx);
      done = { result, trace: traces.get(tx) };
      return result;
    });
  } catch (error) {
    // Nothing is committed before COMMIT is sent.
    if (done?.trace === undefined || !isLostConnection(error)) throw error;
    const { trace } = done;
    const ended = await lookAgain(
      () => statusOf(pool, trace),
      (status) => status !== 'in progress',
    );
    if (!ended.answered || ended.answer === 'in progress') throw outcomeUnknown(error);
    if (ended.answer !== 'committed') throw error;
  }
  if (done === undefined) throw new Error('a transaction without a result');
  if (done.trace !== undefined) noteCommit();
  return done.result;
}

const statusRow = z.object({ status: z.string().nullable() });
const foundRow = z.object({ found: z.boolean() });

async function statusOf(
  pool: CommonQueryMethods,
  { id, row }: Trace,
): Promise<'committed' | 'aborted' | 'in progress'> {
  // A separate transaction: within another one, such as an export's, Slonik blocks other statements.
  return pool.transaction(async (tx) => {
    // Postgres rejects ids that it has not assigned yet, which is possible after a crash.
    const status = await tx.oneFirst(statement(statusRow)`
      SELECT CASE WHEN ${id}::xid8 < pg_current_xact_id() THEN pg_xact_status(${id}::xid8) END AS status
    `);
    if (status === 'in progress') return status;
    // A separate statement: its snapshot includes everything that ended before it.
    const found = await tx.oneFirst(sql.type(foundRow)`SELECT EXISTS (${row}) AS found`);
    return found ? 'committed' : 'aborted';
  });
}

const scope = new AsyncLocalStorage<{ committed: boolean }>();

/** Runs a request and records, for `hasCommitted`, whether it has changed anything. */
export function withCommitsNoted<T>(run: () => T): T {
  return scope.run({ committed: false }, run);
}

/** Whether this request has committed a change. */
export const hasCommitted = (): boolean => scope.getStore()?.committed ?? false;

function noteCommit(): void {
  const noted = scope.getStore();
  if (noted !== undefined) noted.committed = true;
}
