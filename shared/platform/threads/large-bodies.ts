import { AppError } from '#shared/errors.ts';
import type { SplitBody } from './large-body.ts';
import { documentThreads, WorkLimitError } from './threads.ts';

/** For the largest body on a slow machine. */
const JOB_MS = 5_000;

/** See `splitBody`. Throws AppError `invalid`, and WorkBusyError. */
export async function splitBodyUntrusted(
  workspaceId: string,
  bytes: Uint8Array,
  field: string,
): Promise<SplitBody> {
  try {
    const outcome = await documentThreads.run(
      workspaceId,
      'largeBody',
      { bytes, field },
      { jobMs: JOB_MS },
    );
    if ('value' in outcome) return outcome.value;
    throw new AppError('invalid', `Invalid body: ${outcome.problem}`);
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    throw new AppError('invalid', `Invalid body: ${error.message}`);
  }
}
