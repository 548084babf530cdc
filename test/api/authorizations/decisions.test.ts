import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { tools } from '#api/mcp/server.ts';
import { sql } from '#shared/db/pool.ts';
import { decisions } from '#shared/people/scopes.ts';
import { capabilitiesOfRoutes } from '#test/support/access-matrix.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { edge } from '#test/support/engine.ts';
import { bearer, type Person, type Reply, useAuthorizations } from './authorization-stage.ts';

// A credential without decisions, of an admin who has every capability, tries everything that decides a gate or takes one
// away. `test/security/decision-paths.test.ts` does the same for a member who has never had these capabilities.

const stage = useAuthorizations({ ENCRYPTION_KEY: 'a key of this test, long enough' });

const write = {
  ...{ id: 'send', kind: 'tool', tool_name: 'http_request' },
  params: { method: 'POST', url: 'http://127.0.0.1:9/' },
};
const gate = { id: 'ok', kind: 'human_gate', prompt: 'Send it?' };
const open = { nodes: [write], edges: [] };
const gated = { nodes: [gate, write], edges: [edge('ok', 'send')] };

let admin: Person;
let workflow: string;
/** A run that waits at the gate. */
let runId: string;
/** A run that an admin approved. */
let decidedId: string;
let draftTag: string;
let keys: Record<string, Record<string, string>>;
let token: string;

const as = async (headers: Record<string, string>, method: string, path: string, body?: unknown) =>
  stage.send(method, path, body, headers);
const done = async (answer: Promise<Reply>): Promise<any> => {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
};

beforeAll(async () => {
  admin = await stage.person('admin');
  const send = (method: string, path: string, body?: unknown) =>
    done(as(admin.session, method, path, body));
  const made = await send('POST', '/api/workflows', { name: 'Sends', graph: open });
  workflow = made.id;
  await send('POST', `/api/workflows/${workflow}/publish`);
  await send('PUT', `/api/workflows/${workflow}`, { graph: gated });
  draftTag = (await send('PUT', `/api/workflows/${workflow}/draft`, { graph: open })).etag;
  runId = (await send('POST', `/api/workflows/${workflow}/runs`, {})).id;
  await stage.engine.until(runId, ['paused']);
  decidedId = (await send('POST', `/api/workflows/${workflow}/runs`, {})).id;
  await stage.engine.until(decidedId, ['paused']);
  await send('POST', `/api/runs/${decidedId}/approve`, { approved: true });
  await stage.engine.until(decidedId, ['success', 'failed']);
  const make = async (body: object) => ({
    'x-api-key': (await send('POST', '/api/keys', { name: 'K', ...body })).secret,
  });
  keys = {
    'a key of a member': await make({ member_id: admin.id, decide: false }),
    'a key of a role': await make({ role: 'admin', decide: false }),
  };
  token = (await stage.tokensFor(admin, 'view run edit manage')).access;
});

const lacks = (capability: string): string => `This action requires the '${capability}' permission`;

describe.each(['a key of a member', 'a key of a role'])('%s, without decisions', (name) => {
  const call = (method: string, path: string, body?: unknown) =>
    as(keys[name]!, method, path, body);

  test('has every capability but two', async () => {
    const { body } = await call('GET', '/api/auth/me');
    const without = Object.entries(body.capabilities).filter(([, held]) => held === false);
    expect(without.map(([capability]) => capability)).toEqual([
      'approve_gates',
      'publish_workflows',
    ]);
  });

  test.each<[string, () => [string, string, unknown?], string]>([
    ['approve', () => ['POST', `/api/runs/${runId}/approve`, { approved: true }], 'approve_gates'],
    ['reject', () => ['POST', `/api/runs/${runId}/approve`, { approved: false }], 'approve_gates'],
    [
      'check a decision',
      () => ['POST', `/api/runs/${runId}/approve`, { approved: true, only_check: true }],
      'approve_gates',
    ],
    [
      'assign a gate',
      () => ['POST', `/api/runs/${runId}/assign`, { member_id: admin.id }],
      'approve_gates',
    ],
    ['publish', () => ['POST', `/api/workflows/${workflow}/publish`], 'publish_workflows'],
    [
      'change what is published',
      () => ['PUT', `/api/workflows/${workflow}`, { graph: open }],
      'publish_workflows',
    ],
    [
      'run the draft',
      () => ['POST', `/api/workflows/${workflow}/runs?draft=true`, {}],
      'publish_workflows',
    ],
    [
      'rerun the draft',
      () => ['POST', `/api/runs/${runId}/rerun`, { draft: true }],
      'publish_workflows',
    ],
    [
      'rerun an earlier version',
      () => ['POST', `/api/runs/${runId}/rerun`, { version: 1 }],
      'publish_workflows',
    ],
    [
      'fork with the draft',
      () => ['POST', `/api/runs/${decidedId}/fork`, { from_step: 'send', draft: true }],
      'publish_workflows',
    ],
    [
      'fork with an earlier version',
      () => ['POST', `/api/runs/${decidedId}/fork`, { from_step: 'send', version: 1 }],
      'publish_workflows',
    ],
    [
      'register a tool that counts as harmless',
      () => [
        'POST',
        '/api/tools',
        { name: 'reads', endpoint_url: 'http://127.0.0.1:9/', read_only: true },
      ],
      'publish_workflows',
    ],
    [
      'make a key that decides',
      () => ['POST', '/api/keys', { name: 'K', role: 'editor' }],
      'approve_gates',
    ],
    [
      'make a key of a member that decides',
      () => ['POST', '/api/keys', { name: 'K', member_id: admin.id }],
      'approve_gates',
    ],
    [
      'invite someone who decides',
      () => ['POST', '/api/members/invite', { name: 'X', email: 'x@example.com', role: 'editor' }],
      'approve_gates',
    ],
    [
      'change who decides',
      () => ['PUT', `/api/members/${admin.id}/permissions`, { overrides: { approve_gates: true } }],
      'approve_gates',
    ],
  ])('cannot %s', async (_what, request, capability) => {
    const { status, body } = await call(...request());
    expect([status, body.detail]).toEqual([403, expect.stringContaining(lacks(capability))]);
  });

  test('starts runs that wait for someone else, and makes keys without decisions', async () => {
    const { status, body } = await call('POST', `/api/workflows/${workflow}/runs`, {});
    expect(status).toBe(201);
    await stage.engine.until(body.id, ['paused']);
    const fork = await call('POST', `/api/runs/${decidedId}/fork`, { from_step: 'send' });
    expect(fork.status).toBe(201);
    await stage.engine.until(fork.body.id, ['paused']);
    const key = await call('POST', '/api/keys', { name: 'K', role: 'editor', decide: false });
    expect([key.status, key.body.decide]).toEqual([201, false]);
  });
});

describe.each(['a token', 'a key of a member', 'a key of a role'])(
  '%s without decisions, at /api/mcp',
  (name) => {
    const use = async (tool: string, args: object): Promise<string | undefined> => {
      const { body } = await stage.send(
        'POST',
        '/api/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } },
        keys[name] ?? { authorization: `Bearer ${token}` },
      );
      return body.result.isError === true ? body.result.content[0].text : undefined;
    };

    test.each<[string, () => object, string]>([
      ['approve_run', () => ({ run_id: runId, approved: true }), 'approve_gates'],
      ['approve_run', () => ({ run_id: runId, approved: false }), 'approve_gates'],
      ['approve_run', () => ({ run_id: runId, only_check: true }), 'approve_gates'],
      ['assign_gate', () => ({ run_id: runId, member_id: admin.id }), 'approve_gates'],
      ['publish_draft', () => ({ workflow, if_match: draftTag }), 'publish_workflows'],
      ['run_workflow', () => ({ workflow, draft: true }), 'publish_workflows'],
      ['rerun_run', () => ({ run_id: runId, draft: true }), 'publish_workflows'],
      ['rerun_run', () => ({ run_id: runId, version: 1 }), 'publish_workflows'],
      [
        'fork_run',
        () => ({ run_id: decidedId, from_step: 'send', draft: true }),
        'publish_workflows',
      ],
      [
        'fork_run',
        () => ({ run_id: decidedId, from_step: 'send', version: 1 }),
        'publish_workflows',
      ],
    ])('cannot decide by %s', async (tool, args, capability) => {
      expect(await use(tool, args())).toContain(lacks(capability));
    });

    test('reads a gate without its digest, and starts runs that wait for someone else', async () => {
      expect(await use('get_gate', { run_id: runId, step_key: 'ok' })).toBeUndefined();
      expect(await use('run_workflow', { workflow })).toBeUndefined();
      expect(await use('fork_run', { run_id: decidedId, from_step: 'send' })).toBeUndefined();
      const gates = await stage.engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM audit_log WHERE action IN ('approve', 'reject') AND target_id <> ${decidedId}`);
      expect(gates).toBe(0);
    });
  },
);

describe('the list in docs/access.md', () => {
  const [, section = ''] =
    /### Credentials without decisions\n([^]*?)\n### /.exec(
      readFileSync('docs/access.md', 'utf8'),
    ) ?? [];

  test('has every route and tool that needs one of the withheld capabilities', () => {
    const isDecision = (capability: string) => decisions.some((one) => one === capability);
    const routes = [...capabilitiesOfRoutes()].flatMap(([route, needed]) =>
      needed.some(isDecision) ? [route] : [],
    );
    const deciding = tools.filter(({ capability }) => isDecision(capability));
    expect([routes.length, deciding.length]).toEqual([3, 3]);
    for (const named of [...routes, ...deciding.map((tool) => tool.name)]) {
      expect(section).toContain(`\`${named}\``);
    }
  });

  test('has every tool that executes a graph which its caller chooses', () => {
    const chooses = tools.filter(
      ({ input, capability }) =>
        capability === 'run_workflows' &&
        ['draft', 'version', 'candidate', 'decisions'].some((field) => field in input.shape),
    );
    expect(chooses.length).toBeGreaterThan(4);
    for (const { name } of chooses) expect(section).toContain(`\`${name}\``);
  });
});

test('a client that was granted decisions decides, and the audit log says by which client', async () => {
  const granted = await stage.tokensFor(admin, 'view run decide');
  const other = await done(as(admin.session, 'POST', `/api/workflows/${workflow}/runs`, {}));
  await stage.engine.until(other.id, ['paused']);
  const read = await stage.callTool(granted.access, 'get_gate', {
    run_id: other.id,
    step_key: 'ok',
  });
  const { digest } = read.body.result.structuredContent;
  const decided = await stage.callTool(granted.access, 'approve_run', {
    ...{ run_id: other.id, approved: false },
    ...(digest === null ? {} : { digest }),
  });
  expect(decided.body.result.isError).not.toBe(true);
  const details = await stage.engine.db.oneFirst(sql.type(z.object({ details: z.unknown() }))`
    SELECT details FROM audit_log WHERE action = 'reject' AND target_id = ${other.id}`);
  expect(details).toMatchObject({
    signed_in: { by: 'authorization', authorization_id: expect.any(String), client: 'Test client' },
  });
});

test('the person of a client decides in its form only if the client was granted decisions', async () => {
  const rejecting = async (access: string) => {
    let asked = 0;
    const client = await connectMcp(stage.mcpUrl, undefined, bearer(access), {
      offers: { form: {} },
      answer: () => {
        asked += 1;
        return { action: 'accept', content: { decision: 'reject' } };
      },
    });
    const started: any = await client.callTool({
      name: 'run_workflow',
      arguments: { workflow, wait_seconds: 20 },
    });
    await client.close();
    const { id, status } = started.structuredContent;
    const entries = await stage.engine.db.any(sql.type(z.object({ details: z.unknown() }))`
      SELECT details FROM audit_log WHERE action = 'reject' AND target_id = ${id}`);
    return { asked, status, entries };
  };
  expect(await rejecting(token)).toEqual({ asked: 0, status: 'paused', entries: [] });
  const granted = await stage.tokensFor(admin, 'view run decide');
  expect(await rejecting(granted.access)).toMatchObject({
    asked: 1,
    entries: [{ details: { elicited: true, signed_in: { client: 'Test client' } } }],
  });
});
