import { findRunnable } from '../../shared/operations/find-runnable.ts';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '../../api/app.ts';
import { capabilities, type Capability } from '../../shared/capabilities.ts';
import { connectDatabase, sql } from '../../shared/db/pool.ts';
import { newId } from '../../shared/platform/ids.ts';
import { invite } from '../support/people.ts';
import { addEndpoint, addEntities, addFeed } from '../api/data/records.ts';
import { oneStep, startTestApi, type TestApi } from '../api/test-api.ts';

/** Every route that is not public, with the capability it takes. */
const guarded: [string, string, Capability][] = [
  ['GET', '/api/workflows', 'view'],
  ['POST', '/api/workflows', 'create_edit_workflows'],
  ['GET', '/api/workflows/:wf', 'view'],
  ['PUT', '/api/workflows/:wf', 'create_edit_workflows'],
  ['DELETE', '/api/workflows/:wf', 'delete_workflows'],
  ['POST', '/api/workflows/:wf/publish', 'publish_workflows'],
  ['POST', '/api/workflows/:wf/validate', 'view'],
  ['PUT', '/api/workflows/:wf/checks', 'create_edit_workflows'],
  ['GET', '/api/workflows/:wf/versions', 'view'],
  ['GET', '/api/workflows/:wf/versions/1', 'view'],
  ['GET', '/api/workflows/:wf/versions/diff?from=1&to=1', 'view'],
  ['GET', '/api/workflows/:wf/runs', 'view'],
  ['POST', '/api/workflows/:wf/runs', 'run_workflows'],
  ['POST', '/api/workflows/:wf/webhook', 'create_edit_workflows'],
  ['GET', '/api/workflows/:wf/webhook', 'view'],
  ['DELETE', '/api/workflows/:wf/webhook', 'create_edit_workflows'],
  ['PUT', '/api/workflows/:wf/webhook/config', 'create_edit_workflows'],
  ['GET', '/api/runs', 'view'],
  ['GET', '/api/runs/:run', 'view'],
  ['GET', '/api/runs/:run/events', 'view'],
  ['POST', '/api/runs/:run/approve', 'approve_gates'],
  ['POST', '/api/runs/:run/resume', 'cancel_resume'],
  ['POST', '/api/runs/:run/cancel', 'cancel_resume'],
  ['GET', '/api/approvals', 'view'],
  ['GET', '/api/workspace', 'view'],
  ['PUT', '/api/workspace', 'manage_workspace'],
  ['PUT', '/api/workspace/plan', 'manage_workspace'],
  ['POST', '/api/workspace/plan', 'manage_workspace'],
  ['GET', '/api/workspace/alerts', 'view'],
  ['POST', '/api/workspace/alerts/test', 'manage_workspace'],
  ['GET', '/api/usage', 'view'],
  ['GET', '/api/usage/breakdown', 'view'],
  ['GET', '/api/metrics/overview', 'view'],
  ['GET', '/api/audit', 'view'],
  ['GET', '/api/audit/verify', 'view'],
  ['POST', '/api/runs/:run/budget-override', 'manage_workspace'],
  ['GET', '/api/budgets', 'view'],
  ['POST', '/api/budgets', 'manage_workspace'],
  ['GET', '/api/budgets/:bud', 'view'],
  ['GET', '/api/budgets/:bud/status', 'view'],
  ['GET', '/api/budgets/:bud/history', 'view'],
  ['PUT', '/api/budgets/:bud', 'manage_workspace'],
  ['DELETE', '/api/budgets/:bud', 'manage_workspace'],
  ['GET', '/api/tools', 'view'],
  ['POST', '/api/tools', 'create_edit_workflows'],
  ['GET', '/api/tools/:tool', 'view'],
  ['PUT', '/api/tools/:tool', 'create_edit_workflows'],
  ['DELETE', '/api/tools/:tool', 'create_edit_workflows'],
  ['POST', '/api/tools/:tool/test', 'create_edit_workflows'],
  ['GET', '/api/schedules', 'view'],
  ['POST', '/api/schedules', 'create_edit_workflows'],
  ['GET', '/api/schedules/:sch', 'view'],
  ['PUT', '/api/schedules/:sch', 'create_edit_workflows'],
  ['DELETE', '/api/schedules/:sch', 'create_edit_workflows'],
  ['POST', '/api/schedules/:sch/trigger', 'create_edit_workflows'],
  ['GET', '/api/keys', 'view'],
  ['POST', '/api/keys', 'manage_api_keys'],
  ['DELETE', '/api/keys/:key', 'manage_api_keys'],
  ['GET', '/api/data/keys', 'view'],
  ['POST', '/api/data/keys', 'manage_api_keys'],
  ['GET', '/api/data/keys/:dkey', 'view'],
  ['DELETE', '/api/data/keys/:dkey', 'manage_api_keys'],
  ['GET', '/api/data/usage', 'view'],
  ['GET', '/api/governance/events', 'view'],
  ['GET', '/api/workspace/policies', 'view'],
  ['PUT', '/api/workspace/policies', 'manage_workspace'],
  ['GET', '/api/workspace/prices', 'view'],
  ['PUT', '/api/workspace/prices', 'manage_workspace'],
  ['GET', '/api/members', 'view'],
  ['POST', '/api/members/invite', 'manage_members'],
  ['GET', '/api/members/:mem', 'view'],
  ['GET', '/api/members/:mem/stats', 'view'],
  ['PATCH', '/api/members/:mem', 'manage_members'],
  ['PUT', '/api/members/:mem', 'manage_members'],
  ['PATCH', '/api/members/:mem/permissions', 'manage_members'],
  ['PUT', '/api/members/:mem/permissions', 'manage_members'],
  ['POST', '/api/members/:mem/invite', 'manage_members'],
  ['POST', '/api/members/:mem/approve', 'manage_members'],
  ['DELETE', '/api/members/:mem', 'manage_members'],
  ['GET', '/api/templates', 'view'],
  ['POST', '/api/templates', 'create_edit_workflows'],
  ['GET', '/api/templates/:tpl', 'view'],
  ['PUT', '/api/templates/:tpl', 'create_edit_workflows'],
  ['DELETE', '/api/templates/:tpl', 'create_edit_workflows'],
  ['POST', '/api/templates/:tpl/instantiate', 'create_edit_workflows'],
  ['GET', '/api/data/feeds', 'view'],
  ['POST', '/api/data/feeds', 'manage_workspace'],
  ['GET', '/api/data/feeds/:feed', 'view'],
  ['PUT', '/api/data/feeds/:feed', 'manage_workspace'],
  ['DELETE', '/api/data/feeds/:feed', 'manage_workspace'],
  ['GET', '/api/data/sources', 'view'],
  ['POST', '/api/data/sources', 'manage_workspace'],
  ['GET', '/api/data/sources/:src', 'view'],
  ['PUT', '/api/data/sources/:src', 'manage_workspace'],
  ['DELETE', '/api/data/sources/:src', 'manage_workspace'],
  ['POST', '/api/data/sources/:src/report', 'manage_workspace'],
  ['POST', '/api/data/ingest', 'manage_workspace'],
  ['GET', '/api/data/entities', 'view'],
  ['GET', '/api/data/entities/:ent', 'view'],
  ['GET', '/api/data/entities/:ent/history', 'view'],
  ['GET', '/api/data/changes', 'view'],
  ['GET', '/api/data/events', 'view'],
  ['GET', '/api/data/endpoints', 'view'],
  ['POST', '/api/data/endpoints', 'manage_workspace'],
  ['GET', '/api/data/endpoints/:end', 'view'],
  ['PUT', '/api/data/endpoints/:end', 'manage_workspace'],
  ['DELETE', '/api/data/endpoints/:end', 'manage_workspace'],
  ['POST', '/api/data/endpoints/:end/rotate-secret', 'manage_workspace'],
  ['POST', '/api/data/endpoints/:end/ping', 'manage_workspace'],
  ['GET', '/api/data/endpoints/:end/deliveries', 'view'],
  ['GET', '/api/data/endpoints/:end/deliveries/:delivery_id', 'view'],
  ['POST', '/api/data/endpoints/:end/deliveries/:delivery_id/redeliver', 'manage_workspace'],
  ['POST', '/api/data/endpoints/:end/redeliver', 'manage_workspace'],
  // What each of its tools takes is in mcp.test.ts.
  ['POST', '/api/mcp', 'view'],
];

const bodies: Record<string, unknown> = {
  'POST /api/workflows': { name: 'x' },
  'PUT /api/workflows/:wf': { name: 'y' },
  'PUT /api/workflows/:wf/checks': [],
  'PUT /api/workflows/:wf/webhook/config': { require_signature: true },
  'PUT /api/workspace': { name: 'x' },
  'PUT /api/workspace/plan': { plan: 'pro' },
  'POST /api/workspace/plan': { plan: 'pro' },
  'PUT /api/workspace/prices': { prices: [] },
  'POST /api/runs/:run/budget-override': { approved: true },
  'POST /api/budgets': { name: 'x', limit_usd: 1_000 },
  'PUT /api/budgets/:bud': { limit_usd: 2_000 },
  'POST /api/schedules': { workflow_id: 'wf_x', cron: '@yearly' },
  'PUT /api/schedules/:sch': { cron: '@monthly' },
  'PUT /api/workspace/policies': {},
  'POST /api/tools': { name: 'x', endpoint_url: 'https://tools.example.com/' },
  'PUT /api/tools/:tool': { label: 'x' },
  'POST /api/tools/:tool/test': {},
  'POST /api/keys': { name: 'x', role: 'viewer' },
  'POST /api/data/keys': { name: 'x', mode: 'live', scopes: ['usage:read'] },
  'POST /api/members/invite': { name: 'x', email: 'x@example.com', role: 'viewer' },
  'PATCH /api/members/:mem': { role: 'viewer' },
  'PUT /api/members/:mem': { role: 'viewer' },
  'PATCH /api/members/:mem/permissions': { overrides: { view: false } },
  'PUT /api/members/:mem/permissions': { overrides: { view: false } },
  'POST /api/templates': { name: 'x', graph: oneStep },
  'PUT /api/templates/:tpl': { name: 'y' },
  'POST /api/data/feeds': { name: 'x' },
  'PUT /api/data/feeds/:feed': { name: 'y' },
  'POST /api/data/sources': { name: 'x', type: 'x' },
  'PUT /api/data/sources/:src': { type: 'y' },
  'POST /api/data/sources/:src/report': { ok: true },
  'POST /api/data/ingest': { feed_id: 'feed_x', records: [] },
  'POST /api/data/endpoints': { url: 'http://127.0.0.1:9/', events: ['ping'] },
  'PUT /api/data/endpoints/:end': { events: ['ping'] },
  'POST /api/data/endpoints/:end/redeliver': { since: '2026-01-01T00:00:00Z' },
  'POST /api/mcp': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
};

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => api.stop());

const makeIds = async () => {
  const wf = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body
    .id as string;
  const run = (await api.call('POST', `/api/workflows/${wf}/runs`, { ticket: 'x' })).body
    .id as string;
  const bud = (await api.call('POST', '/api/budgets', { name: 'x', limit_usd: 1_000 })).body
    .id as string;
  const key = (await api.call('POST', '/api/keys', { name: 'x', role: 'viewer' })).body
    .id as string;
  const mem = (await invite(api, { role: 'viewer' })).id;
  const endpoint_url = 'http://127.0.0.1:9/';
  const tool = (await api.call('POST', '/api/tools', { name: newId('tool'), endpoint_url })).body
    .id as string;
  const sch = (await api.call('POST', '/api/schedules', { workflow_id: wf, cron: '@yearly' })).body
    .id as string;
  const tpl = (await api.call('POST', '/api/templates', { name: 'x', graph: oneStep })).body
    .id as string;
  const feed = (await api.call('POST', '/api/data/feeds', { name: 'x' })).body.id as string;
  const src = (await api.call('POST', '/api/data/sources', { name: newId('source'), type: 'x' }))
    .body.id as string;
  const dkey = (await api.call('POST', '/api/data/keys', bodies['POST /api/data/keys'])).body
    .id as string;
  const [ent = ''] = await addEntities(api, { ...api, id: feed, isDemo: false }, [{}]);
  const end = await addEndpoint(api);
  return { wf, run, bud, key, dkey, mem, tool, sch, tpl, feed, src, ent, end };
};
/** Each noun of a path by the id it has. */
const at = (path: string, ids: Record<string, string>) =>
  path.replace(/:(\w+)/, (_, noun: string) => ids[noun] ?? `${noun}_x`);

/** The owner's capabilities, as a process sees them that has not asked for the owner before. */
const asOwner = async (
  overrides: Record<string, boolean>,
  act: (call: TestApi['call']) => Promise<void>,
) => {
  const override = async (value: Record<string, boolean>) =>
    api.db.query(sql.type(z.object({}))`
      UPDATE members SET overrides = ${JSON.stringify(value)}::jsonb WHERE is_owner
    `);
  await override(overrides);
  const { app, call } = await api.another();
  try {
    await act(call);
  } finally {
    await app.close();
    await override({});
  }
};

test('this file knows every route', () => {
  const known = guarded.map(([method, path]) => {
    const pattern = path
      .replace(/:\w+/, ':id')
      .replace('/versions/1', '/versions/:version')
      .split('?')[0];
    return `${method} ${pattern}`;
  });
  const routes = Object.entries<any>((api.app.swagger() as any).paths)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path]),
    )
    .map(([method, path]) => `${method} ${path?.replace(/\{(\w+)\}/g, ':$1')}`)
    .filter((route) => !/health|ready|stream|\/auth\/|\/hooks\//.test(route));
  expect(known.sort()).toEqual(routes.sort());
});

describe('capabilities', () => {
  test('without any, every route refuses, and names the one that is missing', async () => {
    const ids = await makeIds();
    const none = Object.fromEntries(Object.keys(capabilities).map((name) => [name, false]));
    await asOwner(none, async (call) => {
      for (const [method, path, capability] of guarded) {
        const { status, body } = await call(method, at(path, ids), bodies[`${method} ${path}`]);
        const detail = `This action requires the '${capability}' permission`;
        expect([path, status, body]).toEqual([path, 403, { detail }]);
      }
    });
  });

  test.each(Object.keys(capabilities))(
    'with %s alone, the routes that declare it let in',
    async (capability) => {
      const ids = await makeIds();
      const only = Object.fromEntries(
        Object.keys(capabilities).map((name) => [name, name === capability]),
      );
      await asOwner(only, async (call) => {
        for (const [method, path] of guarded.filter((route) => route[2] === capability)) {
          const { status, body } = await call(method, at(path, ids), bodies[`${method} ${path}`]);
          // Who would give away more than they hold is refused too, with the name of another capability.
          const refused = body?.detail === `This action requires the '${capability}' permission`;
          expect([path, refused, status < 500]).toEqual([path, false, true]);
        }
      });
    },
  );
});

describe('a workspace', () => {
  test('does not show that what belongs to another exists: the answers are the same, byte for byte', async () => {
    const foreign = await makeForeign();
    const unknown = {
      wf: newId('workflow'),
      run: newId('run'),
      bud: newId('budget'),
      key: newId('apiKey'),
      dkey: newId('dataKey'),
      mem: newId('member'),
      tool: newId('tool'),
      sch: newId('schedule'),
      tpl: newId('template'),
      ent: newId('entity'),
      end: newId('endpoint'),
    };
    for (const [method, path] of guarded.filter(([, path]) => path.includes(':'))) {
      const body = bodies[`${method} ${path}`];
      const [theirs, nobodys] = [
        await api.call(method, at(path, foreign), body),
        await api.call(method, at(path, unknown), body),
      ];
      expect([path, theirs.status, theirs.text]).toEqual([path, 404, nobodys.text]);
      expect(theirs.status).toBe(nobodys.status);
      const shape = ({ headers }: typeof theirs) => {
        const { 'x-request-id': _id, date: _date, ...rest } = headers;
        return rest;
      };
      expect(shape(theirs)).toEqual(shape(nobodys));
    }
  });

  test('does not list what belongs to another', async () => {
    const foreign = await makeForeign();
    expect((await api.call('GET', '/api/workflows')).text).not.toContain(foreign.wf);
    expect((await api.call('GET', '/api/runs?limit=200')).text).not.toContain(foreign.run);
    expect((await api.call('GET', `/api/runs?workflow_id=${foreign.wf}`)).body.runs).toEqual([]);
    expect((await api.call('GET', '/api/approvals')).body.approvals).toEqual([]);
    expect((await api.call('GET', '/api/members')).text).not.toContain(foreign.mem);
    expect((await api.call('GET', '/api/workspace/prices')).body.prices).toEqual([]);
    expect((await api.call('GET', '/api/keys')).text).not.toContain(foreign.key);
    expect((await api.call('GET', '/api/data/keys')).text).not.toContain(foreign.dkey);
    expect((await api.call('GET', '/api/tools')).text).not.toContain(foreign.tool);
    expect((await api.call('GET', '/api/schedules')).text).not.toContain(foreign.sch);
    expect((await api.call('GET', '/api/templates')).text).not.toContain(foreign.tpl);
    expect((await api.call('GET', '/api/data/entities?limit=100')).text).not.toContain(foreign.ent);
    expect((await api.call('GET', '/api/data/endpoints')).text).not.toContain(foreign.end);
  });

  /** A workflow with a paused run and a price, in another workspace. */
  const makeForeign = async () => {
    const ids = {
      ws: newId('workspace'),
      wf: newId('workflow'),
      run: newId('run'),
      bud: newId('budget'),
      key: newId('apiKey'),
      dkey: newId('dataKey'),
      mem: newId('member'),
      tool: newId('tool'),
      sch: newId('schedule'),
      tpl: newId('template'),
    };
    const run = (statement: ReturnType<ReturnType<typeof sql.type>>) =>
      api.db.query(statement as never);
    const row = z.object({});
    await run(sql.type(row)`INSERT INTO workspaces (id, name) VALUES (${ids.ws}, 'Other')`);
    await run(sql.type(row)`INSERT INTO workspace_prices VALUES (${ids.ws}, 'a/b', 1, 1)`);
    await run(
      sql.type(
        row,
      )`INSERT INTO workflows (id, workspace_id, name) VALUES (${ids.wf}, ${ids.ws}, 'Theirs')`,
    );
    await run(sql.type(row)`
      INSERT INTO workflow_versions (workflow_id, version, graph) VALUES (${ids.wf}, 1, '{"nodes":[],"edges":[]}')`);
    await run(sql.type(row)`
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, status)
      VALUES (${ids.run}, ${ids.ws}, ${ids.wf}, 1, 'manual', '{}', 'paused')`);
    await run(sql.type(row)`
      INSERT INTO budgets (id, workspace_id, name, scope, "window", limit_micros, window_start)
      VALUES (${ids.bud}, ${ids.ws}, 'Theirs', 'workspace', 'total', 1, '-infinity')`);
    await run(sql.type(row)`
      INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role)
      VALUES (${ids.key}, ${ids.ws}, 'Theirs', 'ops_x', sha256(convert_to(${ids.key}, 'UTF8')), 'admin')`);
    await run(sql.type(row)`
      INSERT INTO data_keys (id, workspace_id, name, mode, prefix, hash, scopes)
      VALUES (${ids.dkey}, ${ids.ws}, 'Theirs', 'live', 'svc_live_x', sha256(convert_to(${ids.dkey}, 'UTF8')),
              '{usage:read}')`);
    await run(sql.type(row)`
      INSERT INTO custom_tools (id, workspace_id, name, endpoint_url)
      VALUES (${ids.tool}, ${ids.ws}, 'theirs', 'https://tools.example.com/')`);
    await run(sql.type(row)`
      INSERT INTO schedules (id, workspace_id, workflow_id, cron)
      VALUES (${ids.sch}, ${ids.ws}, ${ids.wf}, '@yearly')`);
    await run(sql.type(row)`
      INSERT INTO templates (id, workspace_id, name, graph)
      VALUES (${ids.tpl}, ${ids.ws}, 'Theirs', '{"nodes":[],"edges":[]}')`);
    await run(sql.type(row)`
      INSERT INTO gates (run_id, step_key, round, node_id, label, prompt, fails_on_reject)
      VALUES (${ids.run}, 'g', 1, 'g', 'G', 'secret?', false)`);
    await run(sql.type(row)`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      VALUES (${ids.mem}, ${ids.ws}, 'Eve', ${`${ids.mem}@example.com`}, 'viewer', 'pending')`);
    const feed = await addFeed({ db: api.db, workspaceId: ids.ws });
    const [ent = ''] = await addEntities(api, feed, [{}]);
    return { ...ids, ent, end: await addEndpoint({ db: api.db, workspaceId: ids.ws }) };
  };
});

describe('credentials', () => {
  test.each([
    ['x-api-key', 'ops_nonsense'],
    ['x-api-key', ''],
    ['authorization', 'Bearer nonsense'],
    ['authorization', 'Basic bm9ib2R5Og=='],
  ])('that are not valid are refused in open mode too (%s: %s)', async (name, value) => {
    const { status, body, headers } = await api.call('GET', '/api/workflows', undefined, {
      [name]: value,
    });
    expect(status).toBe(401);
    expect(Object.keys(body)).toEqual(['detail']);
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  test('are judged before the body is', async () => {
    const { status } = await api.send({
      method: 'POST',
      url: '/api/workflows',
      headers: { 'content-type': 'application/json', 'x-api-key': 'ops_nonsense' },
      payload: '{',
    });
    expect(status).toBe(401);
  });

  describe('in required mode', () => {
    let closed: TestApi;
    beforeAll(async () => {
      closed = await startTestApi({ AUTH_MODE: 'required' });
    });
    afterAll(async () => closed.stop());

    test('are needed on every route but the exempt ones', async () => {
      for (const [method, path] of guarded) {
        const url = at(path, {});
        const { status, body } = await closed.call(method, url, bodies[`${method} ${path}`]);
        expect([path, status, body]).toEqual([path, 401, { detail: 'Authentication required' }]);
      }
      expect((await closed.call('GET', '/api/health')).status).toBe(200);
      expect([200, 503]).toContain((await closed.call('GET', '/api/ready')).status);
      expect((await closed.call('GET', '/api/openapi.json')).status).toBe(200);
      expect((await closed.call('GET', '/v1/openapi.json')).status).toBe(200);
      expect((await closed.call('GET', '/docs/')).status).toBe(200);
    });

    test('are needed to learn which addresses exist', async () => {
      expect((await closed.call('GET', '/api/nothing')).status).toBe(401);
      expect((await closed.call('GET', '/nothing')).status).toBe(404);
    });
  });
});

describe('pages of other origins', () => {
  test('cannot act in open mode, even with requests a browser sends unasked', async () => {
    const { run } = await makeIds();
    const foreign = { origin: 'https://evil.example', host: '127.0.0.1:8000' };
    const { status } = await api.call('POST', `/api/runs/${run}/cancel`, undefined, foreign);
    expect(status).toBe(403);
    expect((await api.call('GET', `/api/runs/${run}`)).body.status).toBe('pending');
  });

  test('cannot act by pointing their own name at this machine', async () => {
    const rebound = { origin: 'http://evil.example:8000', host: 'evil.example:8000' };
    expect((await api.call('POST', '/api/workflows', { name: 'x' }, rebound)).status).toBe(403);
    for (const host of ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']) {
      const own = { origin: `http://${host}`, host };
      expect((await api.call('POST', '/api/workflows', { name: 'x' }, own)).status).toBe(201);
    }
  });

  test('that are allowed can, and so can our own', async () => {
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:8000']) {
      const { status } = await api.call('GET', '/api/workflows', undefined, {
        origin,
        host: '127.0.0.1:8000',
      });
      expect(status).toBe(200);
    }
  });

  test('are told by CORS who may read', async () => {
    const preflight = async (origin: string) =>
      (
        await api.send({
          method: 'OPTIONS',
          url: '/api/workflows',
          headers: { origin, 'access-control-request-method': 'POST' },
        })
      ).headers['access-control-allow-origin'];
    expect(await preflight('http://localhost:3000')).toBe('http://localhost:3000');
    expect(await preflight('https://evil.example')).toBeUndefined();
  });
});

describe('every answer', () => {
  test('names its request, by the name the caller gave when it is a sane one', async () => {
    const given = await api.call('GET', '/api/workflows', undefined, {
      'x-request-id': 'abc-1.2:3',
    });
    expect(given.headers['x-request-id']).toBe('abc-1.2:3');
    for (const name of ['a b', 'x'.repeat(101), '<script>']) {
      const { headers } = await api.call('GET', '/api/nothing', undefined, {
        'x-request-id': name,
      });
      expect(headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/);
    }
    expect((await api.send({ method: 'GET', url: '/%E0%A4%A' })).headers['x-request-id']).toMatch(
      /^req_/,
    );
  });

  test('forbids browsers to guess its type or to frame it', async () => {
    const { headers } = await api.call('GET', '/api/workflows');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
  });
});

describe('building the app', () => {
  const build = () => {
    const { db, temporal, config, app } = api;
    return buildApp({
      db,
      temporal,
      config,
      log: app.log as never,
      findRunnable,
    });
  };

  test('fails on a route that declares no capability', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/api/open',
        schema: { response: { 200: z.string() } },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no capability/);
    await app.close();
  });

  test('fails on a route of the data API that declares no scope, whatever else it declares', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/v1/open',
        schema: { response: { 200: z.string() } },
        config: { capability: 'view' },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no capability or scope/);
    await app.close();
  });

  test('fails on a route of the operations API that declares a scope instead', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/api/open',
        schema: { response: { 200: z.string() } },
        config: { scope: 'usage:read' },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no capability or scope/);
    await app.close();
  });

  test('fails on a route that declares no response', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/api/open',
        config: { capability: 'public' },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no response/);
    await app.close();
  });
});

describe('over a real socket', () => {
  const port = async () => {
    if (!api.app.server.listening) await api.app.listen({ host: '127.0.0.1', port: 0 });
    return (api.app.server.address() as { port: number }).port;
  };
  const raw = async (text: string): Promise<string> => {
    const socket = connect(await port(), '127.0.0.1');
    socket.write(text);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  };

  test('bytes that are no HTTP get the usual shape', async () => {
    const answer = await raw('NONSENSE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\{"detail":"Bad Request"\}$/);
  });

  test('a head that is too large is 431', async () => {
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  test('a body of 2 MB is answered with 413 while it is being sent', async () => {
    const answer = await fetch(`http://127.0.0.1:${await port()}/api/workflows`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x'.repeat(2_000_000) }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { detail: 'The body is larger than 1 MB' },
    ]);
  });
});

describe('a failure inside', () => {
  test('answers 500 without a word about it', async () => {
    const { db, temporal, config, app } = api;
    const broken = buildApp({
      db: new Proxy(db, {
        get: (target, key) =>
          key === 'any'
            ? async () => Promise.reject(new Error('secret table'))
            : Reflect.get(target, key),
      }),
      temporal,
      config,
      log: app.log as never,
      findRunnable,
    });
    const answer = await broken.inject({ method: 'GET', url: '/api/workflows' });
    expect([answer.statusCode, answer.json()]).toEqual([500, { detail: 'Internal error' }]);
    await broken.close();
  });

  test('of the connection to Postgres answers 503 with Retry-After', async () => {
    const { temporal, config, app, databaseUrl } = api;
    const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
    const unreachable = buildApp({
      db,
      temporal,
      config,
      log: app.log as never,
      findRunnable,
    });
    await db.end();
    for (const [method, url] of [
      ['GET', '/api/workflows'],
      ['POST', '/api/workflows/wf_x/runs'],
    ] as const) {
      const answer = await unreachable.inject({ method, url });
      expect([url, answer.statusCode, Object.keys(answer.json())]).toEqual([url, 503, ['detail']]);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    const health = await unreachable.inject({ method: 'GET', url: '/api/ready' });
    expect([health.statusCode, health.json().checks.database]).toEqual([503, 'down']);
    await unreachable.close();
  });
});
