import type { FastifyInstance } from 'fastify';
import { AppError } from '#shared/errors.ts';
import { refuseUnsafe } from '#shared/values/unsafe-json.ts';

/**
 * Rejects values that are valid JSON but cannot be stored by the database or serialized as JSON, and keys that can
 * reach a prototype in careless code.
 */
export function refuseUnsafeInput(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    refuseUnsafe('path', request.params);
    // A stream reports refusals with close codes. Its query is a token, which is compared and not stored.
    if (!request.ws) {
      refuseRepeated(request.query as Record<string, unknown>);
      refuseUnsafe('query', request.query);
    }
    refuseUnsafe('body', request.body);
  });
}

/** No parameter is a list, and a repeated value would be ambiguous. */
function refuseRepeated(query: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(query)) {
    if (!Array.isArray(value)) continue;
    throw new AppError(
      'invalid',
      `Invalid query: ${name.slice(0, 200).toWellFormed()} is given more than once`,
    );
  }
}
