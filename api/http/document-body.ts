import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_API_DOCUMENT } from '#shared/contract/tools/tool-import.ts';
import { AppError } from '#shared/errors.ts';
import { splitBodyUntrusted } from '#shared/platform/threads/large-bodies.ts';
import { BODY_LIMIT_BYTES, parseBody } from './body.ts';

/** A document and the fields beside it. */
export const DOCUMENT_BODY_BYTES = MAX_API_DOCUMENT + BODY_LIMIT_BYTES;
const TOO_LARGE = 'The body is larger than 21 MB';

/**
 * Accepts JSON whose `field` can be a large document. A body above the usual limit is parsed on a work thread, and its
 * document becomes text: parsed here, it would hold up other requests for a second.
 */
export function acceptDocument(scope: FastifyInstance, field: string): void {
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: DOCUMENT_BODY_BYTES },
    async ({ actor }: FastifyRequest, body: Buffer) => {
      if (body.length <= BODY_LIMIT_BYTES) return parseBody(body);
      const { rest, text } = await splitBodyUntrusted(actor.workspaceId, body, field);
      return text === undefined ? rest : { ...(rest as object), [field]: text };
    },
  );
  scope.setErrorHandler((error) => {
    if ((error as { code?: string }).code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error;
    throw new AppError('too_large', TOO_LARGE);
  });
}
