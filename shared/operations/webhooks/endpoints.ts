import {
  type DataEndpoint,
  type DataEndpointInput,
  type EndpointUpdate,
  isListener,
  type NewDataEndpoint,
  type RotatedSecret,
} from '#shared/contract/data/outbound.ts';
import {
  createEndpoint,
  type EndpointCaller,
  readEndpoint,
  refuseListener,
  rotateSecret,
  secretContext,
  updateEndpoint,
} from '#shared/db/webhooks/endpoints.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { newEndpointSecret } from '#shared/webhooks/delivery-request.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';

interface EndpointDeps {
  db: Pool;
  egress: Egress;
  sealer: Sealer | undefined;
}

/**
 * Registers a webhook endpoint and generates its secret, which is only returned here. Throws AppError `invalid` for an
 * address that is not allowed, and `conflict`.
 */
export async function registerEndpoint(
  { db, egress, sealer }: EndpointDeps,
  caller: EndpointCaller,
  input: DataEndpointInput,
): Promise<NewDataEndpoint> {
  await requireCallable(egress, input.url);
  const secret = newEndpointSecret();
  const endpoint = await createEndpoint(db, caller, input, (endpointId) =>
    seal(sealer, secret, secretContext(caller.workspaceId, endpointId)),
  );
  return { ...endpoint, secret };
}

/**
 * Changes the given fields of an endpoint. Throws AppError `not_found`, and `invalid` for an address that is not
 * allowed.
 */
export async function changeEndpoint(
  { db, egress }: Pick<EndpointDeps, 'db' | 'egress'>,
  caller: EndpointCaller,
  endpointId: string,
  update: EndpointUpdate,
): Promise<DataEndpoint> {
  const before = await readEndpoint(db, caller, endpointId);
  if (update.url !== undefined) {
    // A listener has no slots for deliveries, and an endpoint has deliveries that would be stuck.
    if (isListener(update.url) !== isListener(before.url)) {
      throw invalid('url: an endpoint cannot become a listener, or a listener an endpoint');
    }
    await requireCallable(egress, update.url);
  }
  return updateEndpoint(db, caller, endpointId, update);
}

/** Replaces an endpoint's secret. Throws AppError `not_found`, `invalid`, and `conflict` for a listener. */
export async function rotateEndpointSecret(
  { db, sealer }: EndpointDeps,
  caller: EndpointCaller,
  endpointId: string,
): Promise<RotatedSecret> {
  const endpoint = await readEndpoint(db, caller, endpointId);
  refuseListener(endpoint, '`ops listen` signs with a secret of its own');
  const secret = newEndpointSecret();
  const sealed = seal(sealer, secret, secretContext(caller.workspaceId, endpointId));
  return { secret, previous_secret_until: await rotateSecret(db, caller, endpointId, sealed) };
}

async function requireCallable(egress: Egress, url: string): Promise<void> {
  if (isListener(url)) return;
  const refusal = await egress.refuses(url);
  if (refusal !== undefined) throw invalid(`url: ${refusal.message}`);
}

function seal(sealer: Sealer | undefined, secret: string, place: string): string {
  if (sealer !== undefined) return sealer.seal(secret, place);
  throw invalid('a secret cannot be stored, since ENCRYPTION_KEY is not set on this service');
}

const invalid = (problem: string): AppError => new AppError('invalid', `Invalid body: ${problem}`);
