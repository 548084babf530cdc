import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { AppError } from '#shared/errors.ts';
import { moduleUrl } from '#shared/platform/module-url.ts';
import type { PasswordTask } from './password-hasher.ts';

/**
 * The number of concurrent passwords, each on a thread of low priority. A flood of sign-ins must not slow down the
 * machine: it gets at most half of the cores, and only their idle time.
 */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));
/** The maximum number of waiting passwords, about a second's worth. Further ones are refused with a retry. */
const MAX_WAITING = 100;

/**
 * The hash of an unknown password, with the same parameters, so that verifying it takes as long as a real one. It is a
 * constant, so that the first unknown email after a start takes no longer than later ones.
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

/**
 * The argon2id hash of a password, as a PHC string. Throws AppError `unavailable` when too many are already waiting.
 */
export async function hashPassword(password: string): Promise<string> {
  return String(await queued({ password }));
}

/**
 * Whether the password matches the hash. Without a hash, it is false after the same time. Throws AppError `unavailable`
 * when too many are already waiting.
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
): Promise<boolean> {
  const matches = await queued({ password, passwordHash: passwordHash ?? NOBODY });
  return matches === true && passwordHash !== null;
}

async function queued(task: PasswordTask): Promise<string | boolean> {
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
  const hasher = new Worker(moduleUrl('./password-hasher.ts', import.meta.url));
  // It mostly waits for work, which must not keep the process alive.
  hasher.unref();
  return hasher;
}

/** Lets the thread process the queue until it is empty. */
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
    // For any reason, such as memory, the thread has ended, and another one replaces it.
    hashers -= 1;
    next.reject(error);
    if (waiting.length > 0) workOn(startHasher());
  };
  hasher.once('message', done);
  hasher.once('error', failed);
  hasher.ref();
  hasher.postMessage(next.task);
}
