import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  challengeSchema,
  type HookAnswer,
  hookAnswerSchema,
  hookBody,
  type HookEvent,
  hookEventSchema,
} from '#shared/contract/inbound/webhook.ts';
import { skippedRunSchema } from '#shared/contract/limits/limits.ts';
import type { Db } from '#shared/db/pool.ts';
import {
  findWebhook,
  type ReceivingWebhook,
  rememberSignature,
  type SignatureMark,
} from '#shared/db/inbound/webhooks.ts';
import { RunSkipped } from '#shared/db/runs/admission.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { hookEventOf, sendFromHook } from '#shared/operations/inbound/send.ts';
import { triggerRun, type Triggered } from '#shared/operations/runs/runs.ts';
import { responses } from '#api/http/responses.ts';
import { skippedRun } from '#api/http/started-run.ts';
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

/** Starts runs, or sends events, for anyone who has the URL of a webhook. */
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
        summary: 'Start a run with an event, or send it to the workspace',
        description:
          'The URL is the credential. A wrong id, a wrong secret and a disabled webhook get the same 404. The content ' +
          'type does not matter. A webhook with an `event` stores the body as an event of that name and returns its ' +
          '`event_id`; the same id with another body is 422.',
        security: [],
        params: hookParams,
        headers: hookHeaders,
        body: hookBody,
        response: responses(
          {
            200: {
              description:
                'The challenge of a sender, with `answer_challenges`; or no run, with a limit whose `on_limit` is `skip`',
              content: {
                'application/json': { schema: z.union([challengeSchema, skippedRunSchema]) },
                'text/plain': { schema: z.string() },
              },
            },
            201: z.union([hookAnswerSchema, hookEventSchema]),
          },
          'conflict',
          'idempotency_mismatch',
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
        const taken = await takeEvent({ context, flights }, hook, event).catch(asNowhere);
        if ('skipped' in taken) {
          log.note(skipped(hook, taken.skipped));
          return reply.code(200).type('application/json').send(skippedRun(taken.skipped));
        }
        if (!taken.isNew) log.note(duplicateOf(hook, taken));
        await context.inFlight.add(taken.dispatched);
        reply.code(201);
        return answerOf(taken);
      },
    });
  });
}

/** The outcome of an event. `isNew` false: a copy of it was received before. */
type Taken = ({ runId: string } | { sentEventId: string }) & {
  isNew: boolean;
  dispatched: Promise<boolean>;
};

function answerOf(taken: Taken): HookAnswer | HookEvent {
  const { isNew } = taken;
  if ('sentEventId' in taken) return hookEventOf({ eventId: taken.sentEventId, created: isNew });
  const { runId: run_id } = taken;
  return isNew
    ? { run_id, status: 'pending' }
    : { run_id, status: 'duplicate', deduplicated: true };
}

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
  sentEventId: null,
});

const skipped = (hook: HookRequest, detail: string) =>
  refused(hook, { status: 200, reason: 'limit_reached', detail });

const duplicateOf = ({ workflowId, arrival }: HookRequest, of: Taken) => ({
  ...arrival,
  workflowId,
  receivedAt: new Date(),
  outcome: 'duplicate' as const,
  status: 201,
  reason: null,
  detail: null,
  runId: 'runId' in of ? of.runId : null,
  sentEventId: 'runId' in of ? null : of.sentEventId,
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

interface Taking {
  context: RouteContext;
  flights: SingleFlight;
}

/**
 * Starts the run of an event or sends it, or finds what a copy has started or sent. Throws AppError like `triggerRun` and
 * `sendFromHook`.
 */
async function takeEvent(taking: Taking, hook: HookRequest, event: Arrived): Promise<Taken> {
  const { webhook } = hook;
  if (event.signature !== undefined) {
    // A signature starts one run or sends one event, even if it is sent with a different event id.
    const { signed_run_id: runId, signed_event_id: sentEventId } = webhook;
    if (runId !== null) return { runId, ...known };
    if (sentEventId !== null) return { sentEventId, ...known };
  }
  if (webhook.event !== null) return sendAsEvent(taking, hook, { ...event, name: webhook.event });
  const { runId, admitted, dispatched } = await admitEvent(taking, hook, event);
  return { runId, dispatched, isNew: admitted !== undefined };
}

const known = { isNew: false, dispatched: Promise.resolve(true) };

/** Sends an event, or finds the one that a copy has sent. */
async function sendAsEvent(
  { context }: Taking,
  { workflowId, webhook, arrival }: HookRequest,
  { input: data, eventId, signature, name }: Arrived & { name: string },
): Promise<Taken> {
  const { workspace_id: workspaceId } = webhook;
  const sent = await sendFromHook(context, {
    ...{ workspaceId, workflowId, name, data, eventId, signature, arrival },
  });
  if ('runId' in sent) return { runId: sent.runId, ...known };
  return { sentEventId: sent.eventId, isNew: sent.created, dispatched: Promise.resolve(true) };
}

/** Starts the run of an event, or finds the run that a copy has started. Throws AppError like `triggerRun`. */
async function admitEvent(
  { context, flights }: Taking,
  { workflowId, webhook, arrival }: HookRequest,
  event: Arrived,
): Promise<Triggered> {
  const { signature } = event;
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
  { context, flights }: Taking,
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

/** A workflow that is being deleted gets the same error as one that does not exist. A skipped run is no error. */
function asNowhere(error: unknown): { skipped: string } {
  if (error instanceof RunSkipped) return { skipped: error.message };
  throw error instanceof AppError && error.code === 'not_found' ? nowhere() : error;
}
