import { exitCodes } from './endings.ts';
import { terminal } from './terminal.ts';

/** The end of a command that ends by itself after a Ctrl-C. */
let ending: AbortController | undefined;

/** Lets Ctrl-C end the process: at once, unless the command has called `interruption`. */
export function endOnInterrupt(): void {
  process.on('SIGINT', () => {
    // The second Ctrl-C does not wait for a clean end.
    if (ending === undefined || ending.signal.aborted) process.exit(exitCodes.interrupted);
    ending.abort();
  });
}

/**
 * For a command that serves until it is interrupted: its signal is aborted by the first Ctrl-C or SIGTERM, and the
 * command then ends with success.
 */
export function interruption(): AbortSignal {
  const { interrupted } = terminal();
  if (interrupted !== undefined) return interrupted;
  if (ending === undefined) {
    const controller = new AbortController();
    ending = controller;
    process.once('SIGTERM', () => controller.abort());
  }
  return ending.signal;
}
