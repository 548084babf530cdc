import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#shared/crypto/ids.ts';
import { addMember, PASSWORD, type Person } from '#test/support/people.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { addEntities } from '#test/api/data/records.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

// Creates a secret of each kind, then calls every route that reads as a member with read access only. New routes are
// included automatically.

let api: TestApi;
let viewer: Person;
let server: ToolServer;
const secrets: Record<string, string> = {};
/** A resource for each path prefix. */
const nouns: Record<string, string> = {};

beforeAll(async () => {
  server = await startToolServer();
  api = await startTestApi({
    ENCRYPTION_KEY: 'a key of this test, long enough',
    SECRET_KEY: 'a secret of this test',
    EGRESS_ALLOW: '127.0.0.0/8',
  });
  const make = async (url: string, body?: unknown) => {
    const answer = await api.call('POST', url, body);
    expect([url, answer.status < 300]).toEqual([url, true]);
    return answer.body;
  };
  viewer = await addMember(api, { role: 'viewer' });
  secrets['password'] = PASSWORD;
  secrets['session'] = viewer.token;
  const workflow = await make('/api/workflows', { name: 'x', graph: oneStep });
  const { url } = await make(`/api/workflows/${workflow.id}/webhook`);
  secrets['inbound webhook'] = url.slice(-32);
  const named = { 'user-agent': `Sender ${secrets['inbound webhook']}` };
  await api.call('POST', new URL(url).pathname, {}, named);
  const received = await api.call('GET', `/api/workflows/${workflow.id}/inbound-events`);
  const key = await make('/api/keys', { name: 'x', role: 'viewer' });
  secrets['API key'] = key.secret;
  const dataKey = await make('/api/data/keys', {
    name: 'x',
    mode: 'live',
    scopes: ['usage:read'],
  });
  secrets['data key'] = dataKey.secret;
  const endpoint = await make('/api/webhooks', {
    url: `${server.url}/hook`,
    events: ['ping'],
  });
  secrets['endpoint'] = endpoint.secret;
  const rotated = await make(`/api/webhooks/${endpoint.id}/rotate-secret`);
  secrets['rotated endpoint'] = rotated.secret;
  secrets['tool header'] = 'canary-of-a-tool-header';
  const tool = await make('/api/tools', {
    name: 'canary',
    endpoint_url: `${server.url}/tool`,
    headers: { Authorization: `Bearer ${secrets['tool header']}`, 'X-Short': 'sh0rt' },
  });
  secrets['short tool header'] = 'sh0rt';
  const invited = await make('/api/members/invite', {
    name: 'x',
    email: 'invited@example.com',
    role: 'viewer',
  });
  if (typeof invited.invite_code === 'string') secrets['invite code'] = invited.invite_code;
  server.answer('tool', { body: { echo: [`Bearer ${secrets['tool header']}`, 'sh0rt'] } });
  const tried = await make(`/api/tools/${tool.id}/test`, {});
  expect(tried.result).toEqual({ echo: ['***', '***'] });
  const feed = await make('/api/data/feeds', { name: 'x' });
  const [entity = ''] = await addEntities(api, { ...api, id: feed.id, isDemo: false }, [{}]);
  const schedule = { workflow_id: workflow.id, cron: '@yearly' };
  const cancelled = await make(`/api/workflows/${workflow.id}/runs`, {});
  await make(`/api/runs/${cancelled.id}/cancel`, {});
  const experiment = { candidate: { version: 1 }, runs: [cancelled.id] };
  Object.assign(nouns, {
    workflows: workflow.id,
    runs: (await make(`/api/workflows/${workflow.id}/runs`, {})).id,
    experiments: (await make(`/api/workflows/${workflow.id}/experiments`, experiment)).id,
    'event-replays': (
      await make(`/api/workflows/${workflow.id}/inbound-events/replay`, { since: '2026-01-01' })
    ).id,
    'inbound-events': received.body.events[0].id,
    budgets: (await make('/api/budgets', { name: 'x', limit_usd: 1_000 })).id,
    'workspace/policies/backtest': (
      await make('/api/workspace/policies/backtest', { policies: {}, since: '2026-01-01' })
    ).id,
    members: invited.id,
    tools: tool.id,
    schedules: (await make('/api/schedules', schedule)).id,
    templates: (await make('/api/templates', { name: 'x', graph: oneStep })).id,
    keys: key.id,
    'data/keys': dataKey.id,
    'data/feeds': feed.id,
    'data/entities': entity,
    webhooks: endpoint.id,
    'data/sources': (await make('/api/data/sources', { name: newId('source'), type: 'x' })).id,
  });
}, 60_000);
afterAll(async () => {
  await api.stop();
  await server.close();
});

const nounOf = (path: string) =>
  /^\/api\/((?:data\/)?[\w-]+(?:\/policies\/backtest)?)/.exec(path)?.[1] ?? '';

test('no route shows a secret to a viewer', async () => {
  const paths = Object.entries<any>((api.app.swagger() as any).paths)
    .filter(([path, { get }]) => get !== undefined && !path.endsWith('/stream'))
    .map(([path]) => path)
    .filter((path) => path.startsWith('/api/'));
  expect(paths.length).toBeGreaterThan(40);
  expect(Object.keys(secrets).length).toBeGreaterThanOrEqual(9);
  let read = 0;
  for (const path of paths) {
    const id = nouns[nounOf(path)];
    if (path.includes('{id}') && id === undefined) throw new Error(`no ${nounOf(path)} to read`);
    const url = path
      .replace('{id}', id ?? '')
      .replace('{version}', '1')
      .replace('{delivery_id}', 'dlv_x')
      .replace(/\/diff$/, '/diff?from=1&to=1');
    const { status, text, headers } = await api.call('GET', url, undefined, viewer.headers);
    if (status === 200) read += 1;
    // No worker runs here, which /api/ready reports.
    expect([url, [200, 404, url === '/api/ready' ? 503 : 0].includes(status)]).toEqual([url, true]);
    const told = text + JSON.stringify(headers);
    for (const [kind, secret] of Object.entries(secrets)) {
      for (const spelling of [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')]) {
        expect([url, kind, told.includes(spelling)]).toEqual([url, kind, false]);
      }
    }
  }
  expect(read).toBeGreaterThan(40);
});
