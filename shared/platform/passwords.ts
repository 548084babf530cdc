import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../errors.ts';

/** OWASP's second choice for argon2id (the library's only default type): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Passwords worked on at once. Each takes a core for some 10 ms and 19 MiB, so that a flood of sign-ins would starve
 * everything else on the machine: half of the cores are left to it.
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

let working = 0;
const waiting: (() => void)[] = [];

/** The argon2id hash of a password, as a PHC string. Throws AppError `unavailable` when too many wait already. */
export async function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, COST));
}

/**
 * Whether it is the password behind the hash. Without a hash it is not, which takes as long to say. Throws AppError
 * `unavailable` when too many wait already.
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
): Promise<boolean> {
  const matches = await inTurn(() => verify(passwordHash ?? NOBODY, password));
  return matches && passwordHash !== null;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (working >= AT_ONCE) {
    if (waiting.length >= MAX_WAITING) {
      throw new AppError('unavailable', 'Too many sign-ins at once; try again');
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    working += 1;
  }
  try {
    return await work();
  } finally {
    // The place is handed over rather than given back, so that nobody who comes later takes it first.
    const next = waiting.shift();
    if (next === undefined) working -= 1;
    else next();
  }
}
