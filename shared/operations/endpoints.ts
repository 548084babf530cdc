import type { EndpointInput, NewEndpoint, RotatedSecret } from '../contract/data/outbound.ts';
import {
  createEndpoint,
  type EndpointCaller,
  requireEndpoint,
  rotateSecret,
  secretPlace,
} from '../db/data/endpoints.ts';
import type { Pool } from '../db/pool.ts';
import { AppError } from '../errors.ts';
import { newEndpointSecret } from '../platform/delivery-signature.ts';
import type { Egress } from '../platform/egress.ts';
import type { Sealer } from '../platform/sealing.ts';

interface EndpointDeps {
  db: Pool;
  egress: Egress;
  sealer: Sealer | undefined;
}

/**
 * Registers a webhook endpoint and makes up its secret, which nobody is shown again. Throws AppError `unprocessable`
 * for an address that may not be called, and `conflict`.
 */
export async function registerEndpoint(
  { db, egress, sealer }: EndpointDeps,
  caller: EndpointCaller,
  input: EndpointInput,
): Promise<NewEndpoint> {
  const refusal = await egress.refuses(input.url);
  if (refusal !== undefined) throw unprocessable(`url: ${refusal.message}`);
  const secret = newEndpointSecret();
  const endpoint = await createEndpoint(db, caller, input, (endpointId) =>
    seal(sealer, secret, secretPlace(caller.workspaceId, endpointId)),
  );
  return { ...endpoint, secret };
}

/** Gives an endpoint another secret. Throws AppError `not_found`, `unprocessable`. */
export async function rotateEndpointSecret(
  { db, sealer }: EndpointDeps,
  caller: EndpointCaller,
  endpointId: string,
): Promise<RotatedSecret> {
  await requireEndpoint(db, caller, endpointId);
  const secret = newEndpointSecret();
  const sealed = seal(sealer, secret, secretPlace(caller.workspaceId, endpointId));
  return { secret, previous_secret_until: await rotateSecret(db, caller, endpointId, sealed) };
}

function seal(sealer: Sealer | undefined, secret: string, place: string): string {
  if (sealer !== undefined) return sealer.seal(secret, place);
  throw unprocessable('a secret cannot be kept, since ENCRYPTION_KEY is not set on this service');
}

const unprocessable = (problem: string): AppError =>
  new AppError('unprocessable', `Invalid body: ${problem}`);
