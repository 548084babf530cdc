import type { CallbackStep } from '#shared/crypto/callback-tokens.ts';
import type { Pool } from '#shared/db/pool.ts';
import { receiveCallback } from '#shared/db/waits/callbacks.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import type { Json } from '#shared/json.ts';

/**
 * Keeps what was sent to the address of a step, and ends the step's wait with it. Throws AppError `not_found`, `conflict`,
 * `gone`.
 */
export async function acceptCallback(db: Pool, step: CallbackStep, body: Json): Promise<void> {
  const outcome = await receiveCallback(db, step, body);
  switch (outcome) {
    case 'unknown':
      throw notFound('Callback');
    case 'over':
      throw new AppError('gone', 'Nothing waits for this callback any more');
    case 'other':
      throw conflict('This callback has come already, with another body');
    case 'same':
    case 'kept':
      return;
    default:
      outcome satisfies never;
  }
}
