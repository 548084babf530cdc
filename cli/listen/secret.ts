import { join } from 'node:path';
import type { Client } from '#client/index.ts';
import { newEndpointSecret } from '#shared/webhooks/delivery-request.ts';
import { environment } from '#cli/environment.ts';
import { readPrivateFile, writePrivateFile } from '#cli/private-file.ts';

/**
 * The secret that signs what is forwarded from a workspace of a service. It is created at the first call and stored
 * beside the profiles, so that a receiver can keep it in its settings.
 */
export async function forwardingSecret(client: Client): Promise<string> {
  const { workspace_id: workspaceId } = await client.getIdentity();
  const path = join(environment().configFolder, 'listen.json');
  const stored = ((await readPrivateFile(path)) ?? {}) as { secrets?: Record<string, string> };
  const owner = `${client.baseUrl} ${workspaceId}`;
  const known = stored.secrets?.[owner];
  if (known !== undefined) return known;
  const secret = newEndpointSecret();
  await writePrivateFile(path, { secrets: { ...stored.secrets, [owner]: secret } });
  return secret;
}
