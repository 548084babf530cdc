import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  challengeSchema,
  type HookAnswer,
  hookAnswerSchema,
  hookBody,
} from '#shared/contract/inbound/webhook.ts';
import type { Db } from '#shared/db/pool.ts';
import {
  findWebhook,
  type ReceivingWebhook,
  rememberSignature,
  type SignatureMark,
} from '#shared/db/inbound/webhooks.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { triggerRun, type Triggered } from '#shared/operations/runs/runs.ts';
import { responses } from '#api/http/responses.ts';
import type { App, HookRequest, RouteContext } from '#api/deps.ts';
import { createSingleFlight, type SingleFlight } from '#api/load/single-flight.ts';
import { parseHookAddress } from '#api/inbound/address.ts';
import { eventIdOf, eventIdOfHeader, inputOf } from '#shared/operations/inbound/event.ts';
import { checkSignature, isSameSecret, markOf } from '#api/inbound/signature.ts';
import { arrivalOf, withBody } from '#api/inbound/arrival.ts';
import { answerChallenge, challengeOf } from '#api/inbound/challenge.ts';
import { createEventLog, type EventLog } from '#api/inbound/event-log.ts';
import { refusalOf } from '#api/inbound/refusals.ts';
import { createCoalescedReads, type CoalescedReads } from '#api/load/coalesced-reads.ts';

const hookParams = z.strictObject({
  workflow_id: z.string(),
  secret: z.string().meta({ description: 'As in the `url` of the webhook' }),
});
const hookHeaders = z.object({
  'x-service-event-id': z.string().optional().meta({
    description: 'Identifies the event; sent again within the window, it starts no second run',
  }),
  'x-service-timestamp': z.string().optional().meta({
    description: 'Seconds since 1970, when the request was signed',
  }),
  'x-service-signature': z
    .string()
    .optional()
    .meta({
      description:
        '`sha256=` and the HMAC-SHA256, in lower-case hexadecimal, of the timestamp, a dot and the body, keyed by the ' +
        'secret of the URL',
    }),
});

/** Starts runs for anyone who has the URL of a webhook. */
export function hookRoutes(app: App, context: RouteContext): void {
  const flights = createSingleFlight();
  const reads = createCoalescedReads<ReceivingWebhook | undefined>();
  const log = createEventLog(context);
  app.register(async (plugin) => {
    const scope = plugin.withTypeProvider<ZodTypeProvider>();
    readBytes(scope);
    logRefusals(scope, log);
    scope.route({
      method: 'POST',
      url: '/api/hooks/:workflow_id/:secret',
      schema: {
        tags: ['Webhooks'],
        operationId: 'receiveEvent',
        summary: 'Start a run with an event',
        description:
          'The URL is the credential. A wrong id, a wrong secret and a disabled webhook get the same 404. The content ' +
          'type does not matter.',
        security: [],
        params: hookParams,
        headers: hookHeaders,
        body: hookBody,
        response: responses(
          {
            200: {
              description: 'The challenge of a sender, with `answer_challenges`',
              content: {
                'application/json': { schema: challengeSchema },
                'text/plain': { schema: z.string() },
              },
            },
            201: hookAnswerSchema,
          },
          'quota_exceeded',
          'budget_exceeded',
        ),
      },
      config: { capability: 'public', anyMediaType: true },
      onRequest: async (request) => {
        request.hook = await findHook({ db: context.db, reads, log }, request);
        // The declared content type is ignored: every type is accepted and parsed the same way.
        delete request.raw.headers['content-type'];
        delete request.raw.headers['content-encoding'];
      },
      handler: async ({ hook, raw, originalUrl }, reply) => {
        hook.arrival = withBody(hook.arrival, hook.body);
        const event = await readEvent(hook, raw.headers);
        hook.arrival.eventId = event.eventId ?? null;
        const challenge = hook.webhook.answer_challenges
          ? challengeOf(originalUrl, event.input)
          : undefined;
        if (challenge !== undefined) return answerChallenge(reply, challenge);
        const run = await admitEvent({ context, flights }, hook, event).catch(asNowhere);
        if (run.admitted === undefined) log.note(duplicateOf(hook, run.runId));
        await context.inFlight.add(run.dispatched);
        reply.code(201);
        return answerOf(run);
      },
    });
  });
}

const answerOf = ({ admitted, runId }: Triggered): HookAnswer =>
  admitted === undefined
    ? { run_id: runId, status: 'duplicate', deduplicated: true }
    : { run_id: runId, status: 'pending' };

/** Keeps the raw bytes of a body, which the signature covers. */
function readBytes(scope: FastifyInstance): void {
  scope.decorateRequest('hook');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      request.hook.body = body;
    },
  );
}

/** Logs the refused events. The error then continues to the application's handler. */
function logRefusals(scope: FastifyInstance, log: EventLog): void {
  scope.addHook('onClose', () => log.stop());
  scope.setErrorHandler((error, request) => {
    // Before the webhook was found, for example when the rate limit is exceeded, only the address identifies the
    // workflow.
    const hook = (request.hook as HookRequest | undefined) ?? addressed(request);
    const refusal = hook === undefined ? undefined : refusalOf(error);
    if (hook !== undefined && refusal !== undefined) log.note(refused(hook, refusal));
    throw error;
  });
}

function addressed(
  request: FastifyRequest,
): Pick<HookRequest, 'workflowId' | 'arrival'> | undefined {
  const address = parseHookAddress(request.url);
  return address === undefined
    ? undefined
    : { workflowId: address.workflowId, arrival: arrivalOf(request, address.secret) };
}

const refused = (
  { workflowId, arrival }: Pick<HookRequest, 'workflowId' | 'arrival'>,
  refusal: NonNullable<ReturnType<typeof refusalOf>>,
) => ({
  ...arrival,
  ...refusal,
  workflowId,
  receivedAt: new Date(),
  outcome: 'refused' as const,
  runId: null,
});

const duplicateOf = ({ workflowId, arrival }: HookRequest, runId: string) => ({
  ...arrival,
  workflowId,
  receivedAt: new Date(),
  outcome: 'duplicate' as const,
  status: 201,
  reason: null,
  detail: null,
  runId,
});

const nowhere = () => new AppError('not_found', 'Not found');
/** Compared when there is no secret, so that the timing is the same. It equals no secret. */
const NO_SECRET = '-'.repeat(32);

interface Finding {
  db: Db;
  reads: CoalescedReads<ReceivingWebhook | undefined>;
  log: EventLog;
}

/** The webhook at this address, before the body is read. Throws AppError `not_found`. */
async function findHook(
  { db, reads, log }: Finding,
  request: FastifyRequest,
): Promise<HookRequest> {
  const { url, headers } = request;
  const address = parseHookAddress(url);
  if (address === undefined) throw nowhere();
  const eventId = eventIdOfHeader(headers['x-service-event-id']);
  const signatureHash = markOf(headers)?.hash;
  const asked = JSON.stringify([address.workflowId, eventId, signatureHash?.toString('hex')]);
  const webhook = await reads.get(asked, () =>
    findWebhook(db, address.workflowId, { eventId, signatureHash }),
  );
  const known = isSameSecret(address.secret, webhook?.secret ?? NO_SECRET);
  if (webhook === undefined) throw nowhere();
  const { workflowId } = address;
  const { secret, event_id_header: own } = webhook;
  const arrival = arrivalOf(request, address.secret);
  if (own !== null) arrival.eventId = eventIdOfHeader(headers[own.toLowerCase()]) ?? null;
  const type = headers['content-type'];
  const hook = { workflowId, arrival, type, body: Buffer.alloc(0) };
  if (secret === null || !known) {
    const error = nowhere();
    const reason = secret === null ? 'disabled' : 'wrong_secret';
    log.note(refused(hook, { status: error.status, reason, detail: error.message }));
    throw error;
  }
  // The id that was looked up came from another header than the webhook's own.
  const seen_run_id = own === null ? webhook.seen_run_id : null;
  return { ...hook, webhook: { ...webhook, seen_run_id, secret } };
}

interface Arrived {
  input: JsonObject;
  eventId: string | undefined;
  signature: SignatureMark | undefined;
}

/**
 * The input of a run and the event that starts it. The order of the checks is part of the contract: the sender gets the
 * first error. Throws AppError `unauthenticated`, `invalid`, `too_large`.
 */
async function readEvent(
  { webhook, body, type }: HookRequest,
  headers: IncomingHttpHeaders,
): Promise<Arrived> {
  const signature = webhook.require_signature ? markOf(headers) : undefined;
  if (webhook.require_signature) {
    const toleranceSeconds = webhook.timestamp_tolerance_seconds;
    const now = Math.floor(Date.now() / 1_000);
    checkSignature(headers, body, { secret: webhook.secret, toleranceSeconds, now });
  }
  const input = await inputOf(body, { type, acceptForms: webhook.accept_forms });
  return { input, signature, eventId: eventIdOf(headers, input, webhook) };
}

/** Starts the run of an event, or finds the run that a copy has started. Throws AppError like `triggerRun`. */
async function admitEvent(
  { context, flights }: { context: RouteContext; flights: SingleFlight },
  { workflowId, webhook, arrival }: HookRequest,
  event: Arrived,
): Promise<Triggered> {
  const { signature } = event;
  // A signature starts one run, even if it is sent with a different event id.
  if (signature !== undefined && webhook.signed_run_id !== null) return seen(webhook.signed_run_id);
  const run =
    webhook.seen_run_id === null
      ? await admitOnce({ context, flights }, { workflowId, webhook, arrival }, event)
      : seen(webhook.seen_run_id);
  if (signature !== undefined && run.admitted === undefined) {
    await rememberSignature(context.db, workflowId, signature, run.runId);
  }
  return run;
}

const seen = (runId: string): Triggered => ({ runId, dispatched: Promise.resolve(true) });

/** Admits an event; of concurrent copies, the first is admitted and the others get its run. */
async function admitOnce(
  { context, flights }: { context: RouteContext; flights: SingleFlight },
  { workflowId, webhook, arrival }: Pick<HookRequest, 'workflowId' | 'webhook' | 'arrival'>,
  { input, eventId, signature }: Arrived,
): Promise<Triggered> {
  const windowSeconds = webhook.dedup_window_seconds;
  const event =
    eventId === undefined || windowSeconds === 0 ? undefined : { id: eventId, windowSeconds };
  const admit = () =>
    triggerRun(context, {
      actor: { workspaceId: webhook.workspace_id, id: null, name: null },
      workflowId,
      trigger: 'webhook',
      input,
      event,
      signature,
      inbound: arrival,
      audit: {
        action: 'webhook_run',
        details: eventId === undefined ? {} : { event_id: eventId },
      },
    });
  const copies = event?.id ?? signature?.hash.toString('hex');
  return copies === undefined ? admit() : flights.board(`${workflowId}/${copies}`, admit);
}

/** A workflow that is being deleted gets the same error as one that does not exist. */
function asNowhere(error: unknown): never {
  throw error instanceof AppError && error.code === 'not_found' ? nowhere() : error;
}
