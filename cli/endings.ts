import { ApiError, ConnectionError, type RunStatus, StreamError } from '#client/index.ts';

/** The exit codes by meaning. */
export const exitCodes = {
  ok: 0,
  /** The service rejected the request, or a check failed. */
  refused: 1,
  usage: 2,
  unreachable: 3,
  runFailed: 4,
  waitedTooLong: 5,
  /** The run waits for a decision. */
  runPaused: 6,
  /** The code of shells for Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command without success. The message, if any, is the only line of output. */
export class Ending extends Error {
  override readonly name = 'Ending';
  readonly code: ExitCode;

  constructor(code: ExitCode, message = '') {
    super(message);
    this.code = code;
  }
}

export const refusal = (message: string): Ending => new Ending(exitCodes.refused, message);
export const misuse = (message: string): Ending => new Ending(exitCodes.usage, message);

export function endingOf(error: unknown): Ending {
  if (error instanceof Ending) return error;
  if (error instanceof ApiError) {
    return new Ending(
      error.status === 408 ? exitCodes.waitedTooLong : exitCodes.refused,
      said(error),
    );
  }
  if (error instanceof ConnectionError || error instanceof StreamError) {
    return new Ending(exitCodes.unreachable, error.message);
  }
  return refusal(error instanceof Error ? error.message : String(error));
}

function said({ status, detail, message }: ApiError): string {
  return status === 401 ? `${detail} (401). Sign in with: ops login` : message;
}

export function codeOfRun(status: RunStatus): ExitCode {
  if (status === 'failed') return exitCodes.runFailed;
  return status === 'paused' ? exitCodes.runPaused : exitCodes.ok;
}
