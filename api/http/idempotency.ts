import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { errorBody } from '#shared/contract/common.ts';
import { idempotencyKeySchema } from '#shared/contract/runs/run.ts';
import { SealError } from '#shared/crypto/sealing.ts';
import {
  actWithin,
  AnsweredMeanwhile,
  type AnswerKey,
  answerKeyOf,
  answerPlace,
  findAnswer,
  storeAnswer,
  takeKey,
} from '#shared/db/idempotency.ts';
import type { Pool, Tx } from '#shared/db/pool.ts';
import { conflict } from '#shared/errors.ts';
import type { Json } from '#shared/json.ts';
import type { Actor } from '#shared/people/actor.ts';
import type { RouteContext } from '#api/deps.ts';

/**
 * Routes that cost or start something declare `idempotent`, and act once per `Idempotency-Key`: the answer is stored
 * with the act, and is returned again for 24 hours. Routes that start runs have their own (`started-run.ts`), since a run
 * can be read again.
 */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it takes an `Idempotency-Key`. Its handler calls `answerOnce`. */
    idempotent?: true;
  }
}

const idempotencyHeaders = z.object({
  'idempotency-key': idempotencyKeySchema.optional().meta({
    description:
      'A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. ' +
      '409 with `Retry-After` while the first one is in progress',
  }),
});

/** Documents and validates the header. Must be registered before the routes. */
export function acceptIdempotencyKeys(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { config = {}, schema = {} } = route;
    if (config.idempotent !== true) return;
    const response = schema.response as Record<number, z.ZodType>;
    route.schema = {
      ...schema,
      headers: idempotencyHeaders,
      response: { 409: errorBody, 422: errorBody, ...response },
    };
    route.config = { ...config, headers: [...(config.headers ?? []), 'Idempotent-Replayed'] };
  });
}

/** Who sends a request: the API key, the client that a member has authorized, or the member. */
function credentialOf({ id, signedIn }: Pick<Actor, 'id' | 'signedIn'>): string {
  if (signedIn?.by === 'api_key') return signedIn.key_id;
  return signedIn?.by === 'authorization' ? signedIn.authorization_id : `${id}`;
}

/** The key of a request; undefined without the header. */
export function keyOfRequest(request: FastifyRequest): AnswerKey | undefined {
  const key = (request.headers as { 'idempotency-key'?: string })['idempotency-key'];
  if (key === undefined) return undefined;
  const isData = request.routeOptions.config.scope !== undefined;
  const [path] = request.url.split('?', 1);
  return answerKeyOf({
    workspaceId: isData ? request.dataCall.caller.workspaceId : request.actor.workspaceId,
    credential: isData ? request.dataCall.caller.keyId : credentialOf(request.actor),
    operation: `${request.method} ${path}`,
    key,
    content: { query: (request.query ?? null) as Json, body: (request.body ?? null) as Json },
  });
}

/** The key of a call of an MCP tool; undefined without the argument `idempotency_key`. */
export function keyOfCall(
  actor: Actor,
  tool: string,
  { idempotency_key: key, ...content }: { idempotency_key?: string | undefined },
): AnswerKey | undefined {
  if (key === undefined) return undefined;
  const { workspaceId } = actor;
  const operation = `tool ${tool}`;
  return answerKeyOf({
    ...{ workspaceId, operation, key, content },
    credential: credentialOf(actor),
  });
}

type Sealing = Pick<RouteContext, 'sealer'>;

/** Stores an answer with the act. Without a key to seal with, acts with secret answers are refused anyway. */
export async function keepAnswer(
  { sealer }: Sealing,
  tx: Tx,
  key: AnswerKey,
  answer: object,
): Promise<void> {
  const text = JSON.stringify(answer);
  await storeAnswer(tx, key, {
    answer: sealer?.seal(text, answerPlace(key)) ?? text,
    sealed: sealer !== undefined,
  });
}

/** The answer of an earlier request. Throws AppError `idempotency_mismatch`, and `conflict` if it cannot be opened. */
export async function earlierAnswer(
  { db, sealer }: Sealing & { db: Pool },
  key: AnswerKey,
): Promise<Json | undefined> {
  const found = await findAnswer(db, key);
  if (found === undefined) return undefined;
  if (!found.sealed) return JSON.parse(found.answer) as Json;
  try {
    if (sealer === undefined) throw new SealError('There is no key to open it with');
    return JSON.parse(sealer.open(found.answer, answerPlace(key))) as Json;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw conflict(
      'The request was carried out, but its answer was sealed with an ENCRYPTION_KEY that this service no longer has',
    );
  }
}

/** What an act did: the answer, as JSON, and the calls to Temporal that follow its commit. */
interface Acted<Answer> {
  answer: Answer;
  dispatched?: Promise<unknown>;
}

/** Acts in one transaction on the given database, with a key as an act of `actWithin`. */
export type Act<Answer> = (db: Pool, how: { withinAct?: true }) => Promise<Acted<Answer>>;

/**
 * Acts, unless an earlier request with this key did: then returns its answer. Without a key, always acts. Throws the
 * errors of the act, which use no key up, and AppError `key_in_use`, `idempotency_mismatch`, `conflict`.
 */
export async function actOnce<Answer extends object>(
  context: Pick<RouteContext, 'db' | 'sealer' | 'inFlight'>,
  key: AnswerKey | undefined,
  act: Act<Answer>,
): Promise<{ answer: Answer; replayed: boolean }> {
  const { db } = context;
  const earlier = async () =>
    key === undefined ? undefined : ((await earlierAnswer(context, key)) as Answer | undefined);
  const known = await earlier();
  if (known !== undefined) return { answer: known, replayed: true };
  try {
    const { answer, dispatched } =
      key === undefined
        ? await act(db, {})
        : await actWithin(db, (own) => act(own, { withinAct: true }), {
            first: (tx) => takeKey(tx, key),
            last: (tx, done) => keepAnswer(context, tx, key, done.answer),
          });
    if (dispatched !== undefined) await context.inFlight.add(dispatched);
    return { answer, replayed: false };
  } catch (error) {
    const meanwhile = error instanceof AnsweredMeanwhile ? await earlier() : undefined;
    if (meanwhile === undefined) throw error;
    return { answer: meanwhile, replayed: true };
  }
}

/** `actOnce` for the `Idempotency-Key` of a request, with the header of a replay. */
export async function answerOnce<Answer extends object>(
  context: Pick<RouteContext, 'db' | 'sealer' | 'inFlight'>,
  request: FastifyRequest,
  reply: FastifyReply,
  act: Act<Answer>,
): Promise<Answer> {
  const { answer, replayed } = await actOnce(context, keyOfRequest(request), act);
  if (replayed) markReplayed(reply);
  return answer;
}

export const markReplayed = (reply: FastifyReply): FastifyReply =>
  reply.header('idempotent-replayed', 'true');
