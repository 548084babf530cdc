import type { Actor } from '#shared/people/actor.ts';
import type { Secret, SecretInput } from '#shared/contract/secrets/secret.ts';
import type { ToolAuth } from '#shared/contract/tools/tool-auth.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Db, Pool } from '#shared/db/pool.ts';
import { putSecret, secretPlace, useSecrets } from '#shared/db/secrets/secrets.ts';
import { coversOtherOwners } from '#shared/platform/secrets/public-suffix.ts';
import { goesToHosts, SECRET_NAME, secretNamesIn } from '#shared/values/secrets.ts';
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
  const at = input.allowed_hosts.findIndex(coversOtherOwners);
  if (at !== -1) {
    throw invalid(
      `allowed_hosts[${at}]: '${input.allowed_hosts[at]}' covers the domains of many owners; name the domain of one`,
    );
  }
  const sealed = sealer.seal(value, secretPlace({ workspaceId: actor.workspaceId, name }));
  return putSecret(db, actor, { name, sealed, ...input });
}

/**
 * Checks the secrets in a custom tool's headers and in what it authenticates with: that they exist, and may be sent to
 * its address. Throws AppError `invalid`.
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
    secretNamesIn(text).map((name) => ({ field: `headers.${header}`, name })),
  );
  const wrong = found.find(({ name }) => !SECRET_NAME.test(name));
  if (wrong !== undefined) {
    throw invalid(`${wrong.field}: '${wrong.name}' is not the name of a secret`);
  }
  if (auth !== undefined && auth !== null) found.push({ field: 'auth', name: auth.secret });
  const secrets = await useSecrets(db, { workspaceId, names: found.map(({ name }) => name) });
  const url = URL.parse(address);
  // Code calls nothing, and has no headers.
  if (url === null) return;
  for (const { field, name } of found) {
    const secret = secrets.get(name);
    if (secret === undefined) throw invalid(`${field}: there is no secret '${name}'`);
    if (goesToHosts(url, secret.hosts)) continue;
    throw invalid(
      `${field}: the secret '${name}' may not be sent to ${url.host}, only to ${secret.hosts.join(', ')}`,
    );
  }
}
