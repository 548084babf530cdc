import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** One password to process. With a hash, it is compared to the hash; without one, it is hashed. */
export interface PasswordTask {
  password: string;
  passwordHash?: string;
}

/** OWASP's second choice for argon2id (the library's only default type): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Lower than everything else on the machine: on Linux, this is the priority of the calling thread. */
const PRIORITY = 7;

// Runs on a separate thread (see `passwords.ts`): it computes for about 10 ms at a time, and only the sign-in waits for
// it.
setPriority(PRIORITY);
parentPort?.on('message', ({ password, passwordHash }: PasswordTask) => {
  parentPort?.postMessage(
    passwordHash === undefined ? hashSync(password, COST) : verifySync(passwordHash, password),
  );
});
