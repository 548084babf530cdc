import { beforeEach, describe, expect, test } from '@jest/globals';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi({ PUBLIC_URL: 'https://ops.example.com/base/' });
let workflowId: string;
beforeEach(async () => {
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
});

const path = () => `/api/workflows/${workflowId}/webhook`;
const enable = async (): Promise<string> => {
  const { status, body } = await api.call('POST', path());
  expect([status, Object.keys(body), body.enabled]).toEqual([200, ['enabled', 'url'], true]);
  return body.url as string;
};
const read = async () => (await api.call('GET', path())).body;
const configure = (body: unknown) => api.call('PUT', `${path()}/config`, body);
/** The response status of an event sent to a URL. */
const post = async (url: string): Promise<number> =>
  (await api.call('POST', new URL(url).pathname.replace('/base', ''), {})).status;
const audit = async (): Promise<{ action: string; details: unknown }[]> =>
  (await api.call('GET', '/api/audit?limit=200')).body.logs
    .filter((entry: { target_id: string; action: string }) => entry.target_id === workflowId)
    .map(({ action, details, actor_name }: Record<string, unknown>) => ({
      action,
      details,
      actor_name,
    }))
    .filter((entry: { action: string }) => entry.action.startsWith('webhook_'))
    .reverse();
const entry = (action: string, details: object = {}) => ({ action, details, actor_name: 'Owner' });

const defaults = {
  require_signature: false,
  timestamp_tolerance_seconds: 300,
  dedup_window_seconds: 0,
  event_id_field: 'event_id',
  event_id_header: null,
  accept_forms: false,
  answer_challenges: false,
  event: null,
  etag: expect.any(String),
};

describe('a webhook', () => {
  test('is disabled by default', async () => {
    expect(await read()).toEqual({ enabled: false, url: null, ...defaults });
  });

  test('that is enabled has a URL under PUBLIC_URL with the workflow and a secret', async () => {
    const url = await enable();
    const pattern = `^https://ops\\.example\\.com/base/api/hooks/${workflowId}/[0-9a-f]{32}$`;
    expect(url).toMatch(new RegExp(pattern));
    expect(await read()).toEqual({ enabled: true, url, ...defaults });
    expect(await post(url)).toBe(201);
  });

  test('gets a new secret when enabled again, and the old URL is immediately 404', async () => {
    const urls = [await enable(), await enable(), await enable()];
    expect(new Set(urls).size).toBe(3);
    expect(await Promise.all(urls.map(post))).toEqual([404, 404, 201]);
    const disabled = async () => (await api.call('DELETE', path())).status;
    expect(await disabled()).toBe(204);
    expect(await read()).toMatchObject({ enabled: false, url: null });
    expect(await post(urls[2]!)).toBe(404);
    const again = await enable();
    expect(urls).not.toContain(again);
    expect(await Promise.all([...urls, again].map(post))).toEqual([404, 404, 404, 201]);
  });

  test('keeps its settings while disabled, and can be configured before it is enabled', async () => {
    const settings = {
      require_signature: true,
      timestamp_tolerance_seconds: 60,
      dedup_window_seconds: 3_600,
      event_id_field: 'delivery',
      event_id_header: 'X-Delivery',
      accept_forms: true,
      answer_challenges: true,
      event: 'lead.received',
    };
    const shown = { ...settings, etag: expect.any(String) };
    const { status, body } = await configure(settings);
    expect([status, body]).toEqual([200, { enabled: false, url: null, ...shown }]);
    const url = await enable();
    expect(await read()).toEqual({ enabled: true, url, ...shown });
    expect((await configure({ require_signature: false })).body).toEqual({
      enabled: true,
      url,
      ...shown,
      require_signature: false,
    });
    await api.call('DELETE', path());
    expect(await read()).toEqual({
      enabled: false,
      url: null,
      ...shown,
      require_signature: false,
    });
  });

  test('is deleted with its workflow', async () => {
    const url = await enable();
    expect((await api.call('DELETE', `/api/workflows/${workflowId}`)).status).toBe(204);
    expect(await post(url)).toBe(404);
    expect((await api.call('GET', path())).body).toEqual({ detail: 'Workflow not found' });
  });

  test('has an audit entry for each actual change, without its secret', async () => {
    await api.call('DELETE', path());
    await configure({});
    await configure({ dedup_window_seconds: 0 });
    const first = await enable();
    const second = await enable();
    await configure({ dedup_window_seconds: 60, require_signature: false });
    await api.call('DELETE', path());
    await api.call('DELETE', path());
    const entries = await audit();
    expect(entries).toEqual([
      entry('webhook_enable'),
      entry('webhook_rotate'),
      entry('webhook_config', { dedup_window_seconds: 60 }),
      entry('webhook_disable'),
    ]);
    for (const url of [first, second]) {
      expect(JSON.stringify(entries)).not.toContain(url.slice(-32));
    }
  });

  test('is enabled by one of many concurrent requests and rotated by the others', async () => {
    for (let round = 0; round < 5; round += 1) {
      workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body
        .id;
      const urls = await Promise.all(Array.from({ length: 10 }, enable));
      const statuses = await Promise.all(urls.map(post));
      expect(statuses.filter((status) => status === 201)).toHaveLength(1);
      expect(urls[statuses.indexOf(201)]).toBe((await read()).url);
      const actions = (await audit()).map(({ action }) => action);
      expect(actions.filter((action) => action === 'webhook_enable')).toHaveLength(1);
      expect(actions.filter((action) => action === 'webhook_rotate')).toHaveLength(9);
    }
  });
});

describe('webhook settings', () => {});
