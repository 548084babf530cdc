import type { Actor } from '#shared/people/actor.ts';
import type { Secret, SecretInput } from '#shared/contract/secrets/secret.ts';
import { referenceOf, type ToolAuth } from '#shared/contract/tools/tool-auth.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Db, Pool } from '#shared/db/pool.ts';
import { putSecret, secretPlace, useSecrets } from '#shared/db/secrets/secrets.ts';
import { coversOtherOwners } from '#shared/platform/secrets/public-suffix.ts';
import { readConnectionHosts } from '#shared/db/connections/connections.ts';
import {
  CONNECTIONS,
  goesToHosts,
  namesOf,
  referencesIn,
  SECRET_NAME,
  SECRETS,
  sourceNoun,
} from '#shared/values/secrets.ts';
import { invalid } from '#shared/operations/tools/tool-headers.ts';

/**
 * Creates or replaces a secret. Throws AppError `invalid` when the service has no key to seal it with, or an allowed
 * host covers domains of other owners, and `conflict` when there are too many.
 */
export async function storeSecret(
  { db, sealer }: { db: Pool; sealer: Sealer | undefined },
  actor: Actor,
  name: string,
  { value, ...input }: SecretInput,
): Promise<{ secret: Secret; created: boolean }> {
  if (sealer === undefined) {
    throw invalid('a secret cannot be stored, since ENCRYPTION_KEY is not set on this service');
  }
  requireOneOwner(input.allowed_hosts);
  const sealed = sealer.seal(value, secretPlace({ workspaceId: actor.workspaceId, name }));
  return putSecret(db, actor, { name, sealed, ...input });
}

/** Throws AppError `invalid` if one of the allowed hosts covers domains of other owners. */
export function requireOneOwner(allowed_hosts: readonly string[]): void {
  const at = allowed_hosts.findIndex(coversOtherOwners);
  if (at === -1) return;
  throw invalid(
    `allowed_hosts[${at}]: '${allowed_hosts[at]}' covers the domains of many owners; name the domain of one`,
  );
}

/**
 * Checks the secrets and connections in a custom tool's headers and in what it authenticates with: that they exist, and
 * may be sent to its address. Throws AppError `invalid`.
 */
export async function checkToolSecrets(
  db: Db,
  workspaceId: string,
  {
    headers = {},
    auth,
  }: { headers?: Readonly<Record<string, string>>; auth?: ToolAuth | null | undefined },
  address: string,
): Promise<void> {
  const found = Object.entries(headers).flatMap(([header, text]) =>
    referencesIn(text).map((reference) => ({ field: `headers.${header}`, ...reference })),
  );
  const wrong = found.find(({ name }) => !SECRET_NAME.test(name));
  if (wrong !== undefined) {
    const noun = sourceNoun(wrong.source);
    throw invalid(`${wrong.field}: '${wrong.name}' is not the name of a ${noun}`);
  }
  if (auth !== undefined && auth !== null) found.push({ field: 'auth', ...referenceOf(auth) });
  const secrets = await useSecrets(db, { workspaceId, names: namesOf(found, SECRETS) });
  const connections = await readConnectionHosts(db, {
    workspaceId,
    names: namesOf(found, CONNECTIONS),
  });
  const url = URL.parse(address);
  // Code calls nothing, and has no headers.
  if (url === null) return;
  for (const { field, source, name } of found) {
    const hosts = source === SECRETS ? secrets.get(name)?.hosts : connections.get(name);
    const noun = sourceNoun(source);
    if (hosts === undefined) throw invalid(`${field}: there is no ${noun} '${name}'`);
    if (goesToHosts(url, hosts)) continue;
    throw invalid(
      `${field}: the ${noun} '${name}' may not be sent to ${url.host}, only to ${hosts.join(', ')}`,
    );
  }
}
