import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { tools as mcpTools } from '#api/mcp/server.ts';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { sql } from '#shared/db/pool.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { type BuiltinTool, toolParams } from '#shared/tools.ts';
import { newId, randomText } from '#shared/crypto/ids.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { type Answer, callerOf } from '#test/api/test-api.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { namesAnId, type Operation, operationsOf } from '#test/support/api-operations.ts';
import { aim, isInExample, type Target, targetsOf } from '#test/support/attack-plan.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { type Kind, populate, type PopulatedWorkspace } from '#test/support/populated-workspace.ts';
import { rowsOf, type WorkspaceRows } from '#test/support/workspace-rows.ts';

// A caller with all permissions in one workspace names resources of another, in each place of each request that can
// name one according to the API's own descriptions. Both workspaces have one resource of each kind.

const SECRET_KEY = 'a secret of this test';
const tokens = createSessionTokens(SECRET_KEY);

let engine: Engine;
let app: App;
let call: ReturnType<typeof callerOf>;
let server: ToolServer;
let own: PopulatedWorkspace;
let theirs: PopulatedWorkspace & { workspaceId: string; rows: WorkspaceRows };

beforeAll(async () => {
  server = await startToolServer();
  engine = await startEngine({
    env: { AUTH_MODE: 'required', SECRET_KEY, ENCRYPTION_KEY: 'a key of this test, long enough' },
  });
  app = buildApp(engine.deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  call = callerOf(app);
  const hook = `${server.url}/hook`;
  own = await populate(call, { token: await signIn(engine.actor.workspaceId), hook });
  const workspaceId = await createWorkspace(engine.db, {
    name: 'Other',
    owner: {
      name: 'Eve',
      email: 'eve@example.com',
      passwordHash: await hashPassword('correct horse battery'),
    },
  });
  const filled = await populate(call, { token: await signIn(workspaceId), hook });
  // Wait until runs and deliveries write no more rows.
  let rows = await rowsOf(engine.db, workspaceId);
  await eventually(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const before = rows;
    rows = await rowsOf(engine.db, workspaceId);
    return JSON.stringify(before.digests) === JSON.stringify(rows.digests);
  }, 20_000);
  theirs = { ...filled, workspaceId, rows };
}, 90_000);
afterAll(async () => {
  await app.close();
  await engine.close();
  await server.close();
});

async function signIn(workspaceId: string): Promise<string> {
  const memberId = await engine.db.oneFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM members WHERE workspace_id = ${workspaceId} AND is_owner`);
  return (await tokens.issue({ memberId, epoch: 1 })).token;
}

/** Runs attacks and expects that they leave nothing. */
async function leavingAllAsItWas(attack: () => Promise<void>): Promise<void> {
  await attack();
  expect((await rowsOf(engine.db, theirs.workspaceId)).digests).toEqual(theirs.rows.digests);
}

/** Expects no data of the other workspace in a text, except what was sent. */
function expectNothingOfTheirs(text: string, sent: readonly string[]): void {
  const shown = [theirs.mark, ...theirs.secrets, ...theirs.rows.ids].filter(
    (secret) => !sent.some((one) => one.includes(secret)),
  );
  let unsent = text;
  for (const one of sent) unsent = unsent.replaceAll(one, '');
  expect(shown.filter((secret) => unsent.includes(secret))).toEqual([]);
}

const idPrefix: Partial<Record<Kind, Parameters<typeof newId>[0]>> = {
  'api key': 'apiKey',
  backtest: 'job',
  experiment: 'job',
  'inbound event': 'inboundEvent',
  'event replay': 'job',
  'data key': 'dataKey',
};
/** An unused id of this kind. */
const nobodys = (kind: Kind): string => {
  if (kind === 'version') return '9';
  if (kind === 'hook secret') return '0'.repeat(32);
  if (kind.endsWith('key') && idPrefix[kind] === undefined) return randomText(20);
  return newId(idPrefix[kind] ?? (kind as Parameters<typeof newId>[0]));
};

const callersOf = ({ path }: Operation) => own.callers[path.startsWith('/v1/') ? 'data' : 'ops'];
const send = (
  operation: Operation,
  targets: readonly Target[],
  idFor: (target: Target) => string | undefined,
  credential: Record<string, string>,
): Promise<Answer> => {
  const { url, headers, body } = aim(operation, targets, idFor);
  // Responses contain the request id.
  const named = { 'x-request-id': 'attack', ...credential, ...headers };
  return call(operation.method, url, body, named);
};
/** The caller's own id, if the request needs one. */
const needed = (operation: Operation, target: Target) =>
  target.in === 'path' || (target.in === 'body' && isInExample(operation, target))
    ? own.ids[target.kind]
    : undefined;

/** The meaning of a response, independent of the ids that were sent. */
const shapeOf = ({ status, text, headers }: Answer, sent: readonly string[]) => ({
  status,
  text: sent.reduce((rest, id) => rest.replaceAll(id, 'SENT'), text),
  headers: Object.entries(headers).filter(
    ([name]) => !/^(date|content-length|ratelimit-|x-credits-)/.test(name),
  ),
});

/** Fields whose ids are stored as given and never looked up, and why. */
const keptAsGiven: Record<string, string> = {
  'PUT /api/workspace/policies body tools.[].allowed_workflow_ids':
    'compared with the workflow at work, which is one of the same workspace',
  'POST /api/workspace/policies/backtest body policies.tools.[].allowed_workflow_ids':
    'compared with the workflows of steps of the same workspace',
  'POST /api/data/ingest body records.[].source_evidence.[].source_id':
    'evidence is what the sender says; nothing is read by it',
};

/** Fields that are refused with any value, and why. */
const alwaysRefused: Record<string, string> = {
  'POST /api/workflows/{id}/nodes/{node_id}/test body run_id':
    'the run waits at its first node, a gate',
  'PUT /api/workflows/{id}/pins/{node_id} body run_id': 'its gate has no output',
  'POST /api/runs/{id}/assign body member_id': 'the member has not accepted the invitation',
  'PUT /api/budgets/{id} body workflow_id': 'a budget stays with what it was made for',
};

describe('every operation of the API', () => {
  test('shows nothing of another workspace without foreign IDs', async () => {
    await leavingAllAsItWas(async () => {
      for (const operation of operationsOf(app)) {
        if (operation.method !== 'GET' || operation.isSocket) continue;
        for (const credential of callersOf(operation)) {
          const answer = await send(
            operation,
            targetsOf(operation),
            (target) => needed(operation, target),
            credential,
          );
          expectNothingOfTheirs(answer.text, []);
        }
      }
    });
  });

  test('treats foreign IDs like unknown ones in every parameter and field', async () => {
    let attacks = 0;
    const operations = operationsOf(app).filter(({ isSocket }) => !isSocket);
    for (const operation of operations) {
      const targets = targetsOf(operation);
      // Alone, and together if a path has several.
      const inPath = targets.filter((target) => target.in === 'path' && target.kind !== 'version');
      const groups = targets.filter(({ kind }) => kind !== 'version').map((target) => [target]);
      if (inPath.length > 1 && !operation.path.startsWith('/api/hooks/')) groups.push(inPath);
      await leavingAllAsItWas(async () => {
        for (const group of groups) {
          for (const credential of callersOf(operation)) {
            await attack(operation, targets, group, credential);
            attacks += 1;
          }
          await control(operation, targets, group);
        }
      });
    }
    expect(attacks).toBeGreaterThan(200);
    // No data of the other workspace was copied to the caller's own.
    expect(await rowsOf(engine.db, engine.actor.workspaceId, theirs.mark)).toMatchObject({
      found: [],
    });
  }, 180_000);

  async function attack(
    operation: Operation,
    targets: readonly Target[],
    group: readonly Target[],
    credential: Record<string, string>,
  ): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const name = `${operation.name} ${first.in} ${first.at.join('.')}`;
    const with_ = (ids: (kind: Kind) => string) => (target: Target) =>
      group.includes(target) ? ids(target.kind) : needed(operation, target);
    const ask = (ids: (kind: Kind) => string) =>
      untilJobsFit(() => send(operation, targets, with_(ids), credential));
    const answer = await ask((kind) => theirs.ids[kind]);
    const sent = group.map(({ kind }) => theirs.ids[kind]);
    expectNothingOfTheirs(answer.text + JSON.stringify(answer.headers), sent);
    // Callers choose such keys freely, and two may choose the same: it is accepted, or refused like an unused one.
    if (first.in === 'header' && answer.status < 300) return;

    const none = new Map(group.map(({ kind }) => [kind, nobodys(kind)]));
    const unknown = await ask((kind) => none.get(kind)!);
    if (answer.status < 300 && operation.method !== 'GET') {
      expect([name, name in keptAsGiven]).toEqual([name, true]);
      return expect(unknown.status).toBe(answer.status);
    }
    expect([name, shapeOf(answer, sent)]).toEqual([name, shapeOf(unknown, [...none.values()])]);
    if (first.in === 'path') expect([name, answer.status]).toEqual([name, 404]);
  }

  /** The answer of a request that may start a job: those of earlier requests have to end first. */
  async function untilJobsFit(ask: () => ReturnType<typeof send>): ReturnType<typeof send> {
    let answer = await ask();
    if (answer.text.includes('background jobs at a time')) {
      await eventually(async () => {
        answer = await ask();
        return answer.status !== 409;
      });
    }
    return answer;
  }

  /** A refusal for another reason would prove nothing: with the caller's own id, the request must succeed. */
  async function control(
    operation: Operation,
    targets: readonly Target[],
    [target]: readonly Target[],
  ): Promise<void> {
    // The request may delete or change the resource in its path.
    if (target === undefined || target.in === 'path' || target.in === 'header') return;
    const answers = [];
    for (const credential of callersOf(operation)) {
      const idFor = (one: Target) => (one === target ? own.ids[one.kind] : needed(operation, one));
      answers.push(await untilJobsFit(() => send(operation, targets, idFor, credential)));
    }
    const name = `${operation.name} ${target.in} ${target.at.join('.')}`;
    const taken = answers.some(({ status }) => status < 300);
    expect([name, taken, answers[0]?.text]).toEqual([
      name,
      !(name in alwaysRefused),
      answers[0]?.text,
    ]);
  }
});

test('no operation shows a secret of the workspace to a viewer', async () => {
  let read = 0;
  for (const operation of operationsOf(app)) {
    if (operation.method !== 'GET' || operation.isSocket || operation.path.startsWith('/v1/')) {
      continue;
    }
    const targets = targetsOf(operation);
    const answer = await send(
      operation,
      targets,
      (target) => needed(operation, target),
      own.viewer,
    );
    if (answer.status === 200) read += 1;
    const shown = answer.text + JSON.stringify(answer.headers);
    const found = own.secrets.filter((secret) =>
      [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')].some((spelling) =>
        shown.includes(spelling),
      ),
    );
    expect([operation.name, found]).toEqual([operation.name, []]);
  }
  expect(read).toBeGreaterThan(40);
});

describe('every socket', () => {
  test('closes for a foreign run as for an unknown one', async () => {
    const { port } = app.server.address() as { port: number };
    // That of the workspace names no record.
    const sockets = operationsOf(app).filter(
      (operation) => operation.isSocket && targetsOf(operation).length > 0,
    );
    expect(sockets.length).toBeGreaterThan(0);
    for (const operation of sockets) {
      const targets = targetsOf(operation);
      const open = async (ids: (kind: Kind) => string) => {
        const { url } = aim(operation, targets, ({ kind }) => ids(kind));
        const socket = new WebSocket(`ws://127.0.0.1:${port}${url}?token=${own.token}`);
        const heard: string[] = [];
        socket.on('message', (data) => heard.push((data as Buffer).toString()));
        return new Promise((resolve, reject) => {
          socket.on('error', reject);
          socket.on('close', (code, reason) => resolve({ code, reason: reason.toString(), heard }));
        });
      };
      await leavingAllAsItWas(async () => {
        const closed = await open((kind) => theirs.ids[kind]);
        expect(closed).toEqual({ code: 4404, reason: '', heard: [] });
        expect(await open(nobodys)).toEqual(closed);
      });
    }
  });
});

/** The kinds of MCP tool arguments and built-in tool parameters; `null`: nothing of a workspace. */
const argumentKinds: Record<string, Kind | null> = {
  workflow: 'workflow',
  run_id: 'run',
  schedule_id: 'schedule',
  budget_id: 'budget',
  member_id: 'member',
  parent_run_id: 'run',
  feed_id: 'feed',
  source_id: 'source',
  trigger_id: 'trigger',
  backtest_id: 'backtest',
  experiment_id: 'experiment',
  event_id: 'inbound event',
  replay_id: 'event replay',
  tool_id: 'tool',
  idempotency_key: 'idempotency key',
  node_id: null,
  external_ids: null,
};
const kindOfArgument = (tool: string, name: string): Kind | null => {
  if (tool === 'get_event') return 'sent event';
  // The caller's own id of the event.
  if (tool === 'send_event') return null;
  const kind = argumentKinds[name];
  if (kind !== undefined) return kind;
  if (!namesAnId(name)) return null;
  throw new Error(`say in argumentKinds what the argument ${name} of the tool ${tool} names`);
};

describe('every MCP tool', () => {
  const use = (name: string, args: object) =>
    call(
      'POST',
      '/api/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      own.headers,
    );

  test('treats foreign IDs like unknown ones', async () => {
    let attacks = 0;
    for (const { name, input } of mcpTools) {
      const targets = Object.keys(input.shape).flatMap((argument) => {
        const kind = kindOfArgument(name, argument);
        return kind === null ? [] : [{ argument, kind }];
      });
      const mine = Object.fromEntries(
        targets
          .filter(({ argument }) => input.shape[argument]?.safeParse(undefined).success !== true)
          .map(({ argument, kind }) => [argument, own.ids[kind]]),
      );
      await leavingAllAsItWas(async () => {
        for (const { argument, kind } of targets) {
          const spellings = kind === 'workflow' ? [`Workflow ${theirs.mark}`] : [];
          for (const id of [theirs.ids[kind], ...spellings]) {
            const answer = await use(name, { ...mine, [argument]: id });
            expectNothingOfTheirs(answer.text, [id]);
            attacks += 1;
            if (kind === 'idempotency key') continue;
            const none = spellings.includes(id) ? randomText(20) : nobodys(kind);
            const unknown = await use(name, { ...mine, [argument]: none });
            expect(answer.text.replaceAll(id, '')).toBe(unknown.text.replaceAll(none, ''));
            const empty = name.startsWith('list_') && answer.body.result.isError !== true;
            expect([name, empty || answer.body.result.isError]).toEqual([name, true]);
          }
        }
        if (targets.length === 0) expectNothingOfTheirs((await use(name, {})).text, []);
      });
    }
    expect(attacks).toBeGreaterThan(8);
  });
});

describe('a workflow', () => {
  const run = async (toolName: string, params: object) => {
    const graph = { nodes: [{ id: 'a', kind: 'tool', tool_name: toolName, params }], edges: [] };
    const made = await call('POST', '/api/workflows', { name: 'x', graph }, own.headers);
    const started = await call('POST', `/api/workflows/${made.body.id}/runs`, {}, own.headers);
    return started.status === 201
      ? engine.until(started.body.id, ['success', 'failed'], 30_000)
      : started.body;
  };
  const values: Record<string, unknown> = {
    external_key: 'x',
    entity_type: 'project',
    event_type: 'permit_filed',
    canonical_name: 'x',
    attributes: {},
    primary_external_key: 'x',
    occurred_at: '2026-01-01T00:00:00Z',
    summary: 'x',
    ok: false,
  };

  test('reads and changes nothing of another workspace with built-in tools', async () => {
    let attacks = 0;
    for (const [tool, { required, optional }] of Object.entries(toolParams) as [
      BuiltinTool,
      (typeof toolParams)[BuiltinTool],
    ][]) {
      const names = [...required, ...optional].flat();
      for (const name of names) {
        const kind = kindOfArgument(tool, name);
        if (kind === null) continue;
        const params = Object.fromEntries(
          required.flat().flatMap((key) => (key in values ? [[key, values[key]]] : [])),
        );
        await leavingAllAsItWas(async () => {
          const ended = await run(tool, { ...params, [name]: theirs.ids[kind] });
          // A search finds nothing with the ID of another workspace, as with an unknown one.
          if (tool === 'entity_search') {
            expect(ended.output).toEqual({ a: { data: [], has_more: false } });
          } else expect([tool, ended.status]).toEqual([tool, 'failed']);
          expectNothingOfTheirs(JSON.stringify(ended), [theirs.ids[kind]]);
        });
        attacks += 1;
      }
    }
    expect(attacks).toBe(4);
  }, 60_000);

  test('cannot use a custom tool of another workspace', async () => {
    const before = server.calls('hook').length;
    const refused = await run(`custom:${theirs.mark}`, {});
    expect(refused.detail).toMatch(/^Workflow graph invalid: /);
    expect(server.calls('hook')).toHaveLength(before);
  });
});

test('an unknown ID parameter throws an error that says what to do', () => {
  const operation: Operation = {
    name: 'POST /api/planets/{id}',
    method: 'POST',
    path: '/api/planets/{id}',
    parameters: [{ in: 'path', name: 'id', required: true, schema: {} }],
    example: {},
    bodyIds: [],
    isSocket: false,
    body: {},
  };
  expect(() => targetsOf(operation)).toThrow(
    'POST /api/planets/{id} takes "id" in its path: say in test/support/attack-plan.ts what it names',
  );
  const moons = { ...operation, parameters: [], bodyIds: [['moon_id']] };
  expect(() => targetsOf(moons)).toThrow('takes "moon_id" in its body');
});
