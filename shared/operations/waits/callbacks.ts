import type { CallbackStep } from '#shared/crypto/callback-tokens.ts';
import { receiveCallback } from '#shared/db/waits/callbacks.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import type { Json } from '#shared/json.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';

/**
 * Keeps what was sent to the address of a step, and ends the step's wait with it. `dispatched`: the signal to the
 * execution, which a worker repeats if it fails. Throws AppError `not_found`, `conflict`, `gone`.
 */
export async function acceptCallback(
  deps: RunDeps,
  step: CallbackStep,
  body: Json,
): Promise<{ dispatched: Promise<boolean> }> {
  const outcome = await receiveCallback(deps.db, step, body);
  switch (outcome.state) {
    case 'unknown':
      throw notFound('Callback');
    case 'over':
      throw new AppError('gone', 'Nothing waits for this callback any more');
    case 'other':
      throw conflict('This callback has come already, with another body');
    case 'same':
      return { dispatched: Promise.resolve(true) };
    case 'kept': {
      const { signal } = outcome;
      return { dispatched: signal === undefined ? Promise.resolve(true) : dispatch(deps, signal) };
    }
    default:
      return outcome satisfies never;
  }
}
