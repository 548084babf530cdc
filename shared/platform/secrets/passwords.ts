import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../errors.ts';
import type { PasswordTask } from './password-hasher.ts';

/**
 * Passwords worked on at once, each in a thread of low priority. A flood of sign-ins has to leave the machine to
 * everything else: half of its cores are for it at most, and only what is left of them.
 */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));
/** Those that may wait for their turn, about a second's worth; more are told to come back. */
const MAX_WAITING = 100;

/**
 * A hash nobody knows a password of, with the costs of all others: verifying it takes as long as verifying a real
 * one. A constant, so that the first unknown e-mail after a start takes no longer than the others.
 */
const NOBODY =
  '$argon2id$v=19$m=19456,t=2,p=1$CdcGJ6ZiSaB9Ws8Lfex5hw$3nOpDngPmuHH/jKk3EWKnvC9jfXVUgOLz7KyFQBJ7HE';

interface Waiting {
  task: PasswordTask;
  resolve: (result: string | boolean) => void;
  reject: (error: Error) => void;
}

const waiting: Waiting[] = [];
const idle: Worker[] = [];
let hashers = 0;

/** The argon2id hash of a password, as a PHC string. Throws AppError `unavailable` when too many wait already. */
export async function hashPassword(password: string): Promise<string> {
  return String(await inTurn({ password }));
}

/**
 * Whether it is the password behind the hash. Without a hash it is not, which takes as long to say. Throws AppError
 * `unavailable` when too many wait already.
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
): Promise<boolean> {
  const matches = await inTurn({ password, passwordHash: passwordHash ?? NOBODY });
  return matches === true && passwordHash !== null;
}

async function inTurn(task: PasswordTask): Promise<string | boolean> {
  if (waiting.length >= MAX_WAITING) {
    throw new AppError('unavailable', 'Too many sign-ins at once; try again');
  }
  return new Promise((resolve, reject) => {
    waiting.push({ task, resolve, reject });
    const hasher = idle.pop() ?? (hashers < AT_ONCE ? startHasher() : undefined);
    if (hasher !== undefined) workOn(hasher);
  });
}

function startHasher(): Worker {
  hashers += 1;
  const hasher = new Worker(new URL('password-hasher.ts', import.meta.url));
  // It waits for work most of the time, which must not keep the process up.
  hasher.unref();
  return hasher;
}

/** Has the thread work on what waits until nothing does. */
function workOn(hasher: Worker): void {
  const next = waiting.shift();
  if (next === undefined) {
    idle.push(hasher);
    return;
  }
  const done = (result: string | boolean): void => {
    hasher.off('error', failed);
    hasher.unref();
    next.resolve(result);
    workOn(hasher);
  };
  const failed = (error: Error): void => {
    // Whatever it was, memory perhaps: the thread is gone, and another one takes its place.
    hashers -= 1;
    next.reject(error);
    if (waiting.length > 0) workOn(startHasher());
  };
  hasher.once('message', done);
  hasher.once('error', failed);
  hasher.ref();
  hasher.postMessage(next.task);
}
