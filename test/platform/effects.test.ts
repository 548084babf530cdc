import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createEgress, type Egress } from '#shared/platform/egress/egress.ts';
import { requireRecordWrites, withEffects } from '#shared/platform/egress/effects.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';

let tools: ToolServer;
let egress: Egress;
beforeAll(async () => {
  tools = await startToolServer();
  egress = createEgress({ allow: ['127.0.0.1'] });
});
afterAll(async () => {
  await egress.close();
  await tools.close();
});

const send = (method: string) => egress.request(`${tools.url}/it`, { method });
const fetchIt = (method: string) => egress.fetch(`${tools.url}/it`, { method });

test('the guard of outgoing requests refuses what a rehearsal does not allow', async () => {
  const none = { requests: false };
  await expect(withEffects(none, () => send('GET'))).rejects.toMatchObject({
    ...{ code: 'refused', message: 'A rehearsal sends no GET request', retryable: false },
  });
  await expect(withEffects(none, () => fetchIt('POST'))).rejects.toThrow('sends no POST request');
  const later = withEffects(none, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return send('GET');
  });
  await expect(later).rejects.toThrow('sends no GET request');
  const reads = { requests: true, method: 'GET' };
  await expect(withEffects(reads, () => send('POST'))).rejects.toThrow('sends no POST request');
  expect(tools.calls('it')).toHaveLength(0);
  expect((await withEffects(reads, () => send('GET'))).status).toBe(200);
  expect((await withEffects({ requests: true }, () => fetchIt('POST'))).status).toBe(200);
  expect((await send('POST')).status).toBe(200);
});

test('data records are only written outside rehearsals', () => {
  expect(() => withEffects({ requests: true }, requireRecordWrites)).toThrow(
    'A rehearsal writes no data records or events',
  );
  expect(requireRecordWrites()).toBeUndefined();
});
