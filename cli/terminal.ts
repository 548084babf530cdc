import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';

/** The streams and the environment of one call of the command, and what interrupts it. */
export interface Terminal {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
  /** By default, Ctrl-C. */
  interrupted?: AbortSignal;
}

const terminals = new AsyncLocalStorage<Terminal>();

/** Those of this call; by default, those of the process. No other module uses the process's own. */
export const terminal = (): Terminal => terminals.getStore() ?? process;

/** Calls `work`, and everything that it starts, with these streams and this environment. */
export const withTerminal = <Result>(own: Terminal, work: () => Result): Result =>
  terminals.run(own, work);
