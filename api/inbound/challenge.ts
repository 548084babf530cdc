import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#shared/json.ts';

/** The maximum length of a challenge that is answered, in characters. */
const MAX_CHALLENGE = 4_096;

/** What a sender wants to read before it sends events, to verify that the receiver wants them. */
type Challenge = { token: string } | { challenge: string };

/** The challenge in the query or body of a request; undefined for an event. */
export function challengeOf(url: string, input: JsonObject): Challenge | undefined {
  const at = url.indexOf('?');
  const token = at < 0 ? null : new URLSearchParams(url.slice(at)).get('validationToken');
  if (token !== null && isShort(token)) return { token };
  const { type, challenge } = input;
  return type === 'url_verification' && typeof challenge === 'string' && isShort(challenge)
    ? { challenge }
    : undefined;
}

const isShort = (text: string): boolean => text !== '' && text.length <= MAX_CHALLENGE;

export function answerChallenge(reply: FastifyReply, challenge: Challenge): FastifyReply {
  reply.code(200);
  return 'token' in challenge
    ? reply.type('text/plain; charset=utf-8').send(challenge.token)
    : reply.send(challenge);
}
