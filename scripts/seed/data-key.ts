import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { DataKey } from '#shared/contract/data/key.ts';
import { dataScopeNames } from '#shared/contract/data/envelope.ts';
import { call, type Service } from './api.ts';

/**
 * The secret of a test key of the data API, for first steps. It is created once and stored in `file`, which only its
 * owner can read; a revoked key is not created again. Undefined if there is none.
 */
export async function settleDataKey(service: Service, file: string): Promise<string | undefined> {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  if (kept !== undefined) {
    const { body } = await call<DataKey[]>(service, 'GET', '/api/data/keys');
    const key = body.find(({ prefix }) => kept.startsWith(prefix));
    if (key !== undefined) return key.revoked ? undefined : kept;
  }
  // There is no key, or it belongs to another database.
  const { body } = await call<DataKey & { secret: string }>(service, 'POST', '/api/data/keys', {
    body: { name: 'First steps', mode: 'test', scopes: dataScopeNames },
  });
  writeFileSync(file, `${body.secret}\n`, { mode: 0o600 });
  return body.secret;
}
