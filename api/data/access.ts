import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { dataKeyPrefixes } from '#shared/contract/data/key.ts';
import type { Allowance, DataAccount } from '#shared/db/data/metering.ts';
import { AppError } from '#shared/errors.ts';
import { createAddressRanges } from '#shared/platform/egress/address-ranges.ts';
import { hashApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import { isRepeated } from '#api/identity/authenticate.ts';
import { clientNetwork } from '#api/http/client-address.ts';
import type { DataAccess, Meter, RouteContext } from '#api/deps.ts';
import type { KeyUses } from '#api/identity/key-uses.ts';
import { createMinuteRates } from './key-rates.ts';

/** The service's own keys are a third of this length. */
const MAX_KEY_LENGTH = 200;

/** Headers of the data API about its allowances that pages of other origins can read. */
export const dataHeaders = [
  'x-credits-consumed',
  'x-credits-remaining',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

export function createDataAccess(
  deps: Pick<RouteContext, 'config'> & { meter: Meter; dataKeyUses: KeyUses },
): DataAccess {
  const { meter, dataKeyUses } = deps;
  const { dataRateLimitPerMinute: perMinute, dataKeyFailuresPerMinute } = deps.config.api;
  const rates = createMinuteRates(perMinute);
  const failures = createMinuteRates(dataKeyFailuresPerMinute);
  return {
    admit: async (request, reply, scope) => {
      // A valid key is accepted despite failures from its address: only failed requests count against the limit.
      const secret = secretOf(request.raw);
      const admitted =
        secret === undefined ? undefined : await meter.admit(hashApiKeySecret(secret));
      if (admitted === undefined) throw invalid(failures.take(clientNetwork(request)));
      const { caller, account, ipAllowlist } = admitted;
      dataKeyUses.note(caller.keyId);
      request.dataCall = { caller, credits: 0 };
      request.dataAccount = account;
      setAllowanceHeaders(request, reply);
      const seconds = rates.take(caller.keyId);
      if (seconds !== undefined) throw tooFast(perMinute, seconds);
      requireRequestLeft(account);
      if (ipAllowlist.length > 0 && !createAddressRanges(ipAllowlist)(request.ip)) {
        throw new AppError('forbidden', 'This key cannot be used from this address');
      }
      if (scope !== undefined && !caller.scopes.includes(scope)) {
        throw new AppError('forbidden', `This action requires the '${scope}' scope`);
      }
    },
  };
}

/** Admits callers whose key has the route's scope, before the body is read. */
export function guardDataRoutes(
  app: FastifyInstance,
  { dataAccess }: Pick<RouteContext, 'dataAccess'>,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { scope } = request.routeOptions.config;
    if (scope !== undefined) await dataAccess.admit(request, reply, scope);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // Public routes have no call. At this point, its cost is known.
    if ((request.dataAccount as DataAccount | undefined) !== undefined) {
      setAllowanceHeaders(request, reply);
    }
    return payload;
  });
}

const missing = () => new AppError('unauthenticated', 'An API key is required');
/** The error for an invalid key. `seconds`: when the address can try again, if too many have come from it. */
const invalid = (seconds: number | undefined) =>
  seconds === undefined
    ? new AppError('unauthenticated', 'The API key is invalid, expired or revoked')
    : new AppError(
        'rate_limited',
        `Too many requests with invalid API keys from this address. Try again in ${seconds} s`,
        { retryAfterSeconds: seconds },
      );

/**
 * The key in `X-API-Key`, or else in `Authorization`; undefined when the credential cannot be a valid key. Throws
 * AppError `unauthenticated` when there is none.
 */
function secretOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const key = headers['x-api-key'];
  const { authorization } = headers;
  if (key === undefined && authorization === undefined) throw missing();
  const secret = key ?? /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (isRepeated(rawHeaders, key === undefined ? 'authorization' : 'x-api-key')) return undefined;
  if (typeof secret !== 'string' || secret.length > MAX_KEY_LENGTH) return undefined;
  const isOwn = Object.values(dataKeyPrefixes).some((prefix) => secret.startsWith(prefix));
  return isOwn ? secret : undefined;
}

const tooFast = (perMinute: number, seconds: number) =>
  new AppError(
    'rate_limited',
    `Too many requests: at most ${perMinute} a minute with this key. Try again in ${seconds} s`,
    { retryAfterSeconds: seconds },
  );

function requireRequestLeft({ plan, month, requests }: DataAccount): void {
  const [whose, allowance] = isOver(requests.plan)
    ? [`on the ${plan} plan`, requests.plan]
    : ['of this key', requests.key];
  if (!isOver(allowance)) return;
  throw new AppError(
    'allowance_exhausted',
    `Monthly request allowance exhausted (${allowance.limit}/${allowance.limit} ${whose})`,
    { retryAfterSeconds: secondsLeft(month) },
  );
}

const isOver = ({ used, limit }: Allowance): boolean => limit !== null && used > limit;

/** The seconds until the month ends. */
function secondsLeft(month: string): number {
  const first = new Date(month);
  const end = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
  return Math.max(1, Math.ceil((end - Date.now()) / 1000));
}

/** The one of the two allowances with less remaining; undefined if neither has a limit. */
function tighter({
  plan,
  key,
}: {
  plan: Allowance;
  key: Allowance;
}): { limit: number; left: number } | undefined {
  const bounds = [plan, key].flatMap(({ used, limit }) =>
    limit === null ? [] : [{ limit, left: Math.max(0, limit - used) }],
  );
  return bounds.reduce<(typeof bounds)[number] | undefined>(
    (least, bound) => (least === undefined || bound.left < least.left ? bound : least),
    undefined,
  );
}

function setAllowanceHeaders({ dataCall, dataAccount }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-credits-consumed', String(dataCall.credits));
  const credits = tighter(dataAccount.credits);
  if (credits !== undefined) reply.header('x-credits-remaining', String(credits.left));
  const requests = tighter(dataAccount.requests);
  if (requests === undefined) return;
  reply.header('ratelimit-limit', String(requests.limit));
  reply.header('ratelimit-remaining', String(requests.left));
  reply.header('ratelimit-reset', String(secondsLeft(dataAccount.month)));
}
