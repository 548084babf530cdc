import { expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import { sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { eventually } from '#test/support/engine.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { oneStep, useTestApi } from './test-api.ts';

const api = useTestApi();

test('a stopping process answers the requests in progress, and refuses others', async () => {
  const { id } = (await api.call('POST', '/api/workflows', { name: 'Locked', graph: oneStep }))
    .body;
  const run = (await api.call('POST', `/api/workflows/${id}/runs`, {})).body.id;
  const app = buildApp({ ...api, findRunnable });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  // A stream does not delay the stop: its client continues elsewhere.
  const stream = await fetch(`${url}/api/runs/${run}/stream`, {
    headers: { accept: 'text/event-stream' },
  });
  const locked = Promise.withResolvers<undefined>();
  const unlock = Promise.withResolvers<undefined>();
  const holding = api.db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SELECT FROM workflows WHERE id = ${id} FOR UPDATE`);
    locked.resolve(undefined);
    await unlock.promise;
  });
  await locked.promise;
  const changing = fetch(`${url}/api/workflows/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Renamed' }),
  });
  await untilLockWaiters(api.db, 1);
  const closing = app.close();
  await eventually(async () => (await fetch(`${url}/api/workflows`)).status === 503);
  unlock.resolve(undefined);
  const changed = await changing;
  expect([changed.status, changed.headers.get('connection')]).toEqual([200, 'close']);
  expect(await changed.json()).toMatchObject({ name: 'Renamed' });
  await Promise.all([closing, holding]);
  await stream.text().catch(() => undefined);
});
