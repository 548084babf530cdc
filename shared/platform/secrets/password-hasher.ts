import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** One password to work on. With a hash it is compared to it, without one it is hashed. */
export interface PasswordTask {
  password: string;
  passwordHash?: string;
}

/** OWASP's second choice for argon2id (the library's only default type): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Behind everything else on the machine: on Linux this is the priority of the thread it is called in. */
const PRIORITY = 7;

// The body of a thread of its own (passwords.ts): it computes for some 10 ms at a time and nobody waits for it but the
// sign-in that asked.
setPriority(PRIORITY);
parentPort?.on('message', ({ password, passwordHash }: PasswordTask) => {
  parentPort?.postMessage(
    passwordHash === undefined ? hashSync(password, COST) : verifySync(passwordHash, password),
  );
});
