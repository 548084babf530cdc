import type { FastifyInstance } from 'fastify';
import { AppError, messageOf } from '#shared/errors.ts';
import { parseExactJson } from '#shared/outside-json.ts';

export const BODY_LIMIT_BYTES = 1_048_576;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Accepts only JSON. An empty body counts as no body, with any content type. */
export function acceptJson(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ headers }) => {
    const { 'content-encoding': encoding = 'identity' } = headers;
    if (encoding.toLowerCase() === 'identity') return;
    throw new AppError(
      'unsupported_media_type',
      'Content-Encoding must be identity: send the body uncompressed',
    );
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseBody(body),
  );
}

/** The JSON of a body, undefined for an empty one. Throws AppError `invalid`. */
export const parseBody = (body: Buffer): unknown =>
  body.length === 0 ? undefined : parseJson(decode(body));

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new AppError('invalid', 'Invalid body: not valid UTF-8');
  }
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = parseExactJson('body', text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid', `Invalid body: not valid JSON (${messageOf(error)})`);
  }
  // The validator could not distinguish null from an absent body.
  if (value === null) {
    throw new AppError('invalid', 'Invalid body: must be a JSON object, not null');
  }
  return value;
}
