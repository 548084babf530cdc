import type { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createProgram } from '#cli/program.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { createOps, type Ops } from './ops.ts';

/** Every command that changes or deletes one existing record, with arguments and what it reads from standard input. */
const changes: Record<string, { args: string[]; input?: string; show: string }> = {
  'workflows publish': { args: ['wf_1'], show: 'workflows show' },
  'workflows delete': { args: ['wf_1'], show: 'workflows show' },
  'drafts save': { args: ['wf_1', '-f', '-'], input: '{"graph": {}}', show: 'drafts show' },
  'drafts discard': { args: ['wf_1'], show: 'drafts show' },
  'drafts publish': { args: ['wf_1'], show: 'drafts show' },
  'budgets delete': { args: ['bud_1'], show: 'budgets show' },
  'keys revoke': { args: ['key_1'], show: 'keys show' },
  'data keys revoke': { args: ['dkey_1'], show: 'data keys show' },
  'members role': { args: ['mem_1', 'viewer'], show: 'members show' },
  'members remove': { args: ['mem_1'], show: 'members show' },
  'schedules delete': { args: ['sch_1'], show: 'schedules show' },
  'tools delete': { args: ['tool_1'], show: 'tools show' },
  'secrets set': { args: ['KEY', '--host', 'a.example.com'], input: 'value', show: 'secrets show' },
  'secrets delete': { args: ['KEY'], show: 'secrets show' },
  'data feeds delete': { args: ['feed_1'], show: 'data feeds show' },
  'data sources delete': { args: ['src_1'], show: 'data sources show' },
  'webhooks update': { args: ['end_1', '--event', 'run.failed'], show: 'webhooks show' },
  'webhooks delete': { args: ['end_1'], show: 'webhooks show' },
};

/** The other commands that are not `list` or `show`: they read, create, or act without editing a record. */
const others = new Set([
  ...['login', 'logout', 'profiles', 'use', 'whoami', 'completion', '__complete', 'usage'],
  ...['workflows versions', 'workflows validate', 'workflows diff', 'workflows apply'],
  // Files are compared with the state that the command has read, and written with its tag.
  ...[
    'apply',
    'pull',
    'run',
    'rerun',
    'fork',
    'runs watch',
    'gate',
    'approve',
    'reject',
    'assign',
    'resume',
    'cancel',
    'runs export',
  ],
  ...['budgets create', 'keys create', 'data keys create', 'data usage', 'schedules create'],
  ...['schedules trigger', 'members invite', 'members renew', 'members approve', 'data ingest'],
  ...['data feeds create', 'data sources create', 'tools register', 'tools import', 'tools test'],
  ...['audit verify', 'alerts test', 'webhooks create', 'webhooks rotate-secret', 'webhooks test'],
  ...['webhooks deliveries', 'webhooks redeliver', 'events replay', 'events cancel'],
  // Jobs and tests are started. Pins belong to one member, who sees the last one.
  ...['experiment', 'experiments cancel', 'node test', 'pins set', 'pins remove'],
  ...['policies backtest', 'policies backtests', 'policies show-backtest'],
  'policies cancel-backtest',
  // So do views.
  ...['runs views save', 'runs views remove'],
]);

const leaves = (command: Command, before: readonly string[] = []): [string, Command][] =>
  command.commands.flatMap((each) => {
    const name = [...before, each.name()];
    const below = leaves(each, name);
    return below.length === 0 ? [[name.join(' '), each] as [string, Command]] : below;
  });

describe('a command that changes a record', () => {
  let ops: Ops;
  let server: FakeServer;
  beforeAll(async () => {
    const record = { id: 'x', name: 'x', etag: 'abc', version: 2 };
    const graph = { graph: { nodes: [], edges: [] }, stats: {}, checks: [], status: {} };
    server = await startHttpServer((_request, response) =>
      sendJson(response, 200, { ...record, ...graph }),
    );
    ops = await createOps({ OPS_API_URL: server.url });
  });
  afterAll(() => server.close());
  beforeEach(() => void server.seen.splice(0));

  test('is in this test', () => {
    const names = leaves(createProgram()).map(([name]) => name);
    const unnamed = names.filter(
      (name) => !/(^| )(list|show)$/.test(name) && !others.has(name) && !(name in changes),
    );
    expect(unnamed).toEqual([]);
    const options = leaves(createProgram())
      .filter(([, { options }]) => options.some(({ long }) => long === '--if-match'))
      .map(([name]) => name);
    expect(options.sort()).toEqual(Object.keys(changes).sort());
  });

  test.each(Object.entries(changes))('sends the tag of --if-match: %s', async (name, change) => {
    const given = [...name.split(' '), ...change.args, '--if-match', 'abc'];
    const { input } = change;
    const { code, stderr } = await ops(given, input === undefined ? {} : { input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const sent = server.seen.filter(({ method }) => method !== 'GET');
    expect(sent.map(({ headers }) => headers['if-match'])).toEqual(['"abc"']);
  });

  test.each(Object.entries(changes))(
    'has a tag that its group prints: %s',
    async (_, { show, args: [reference = ''] }) => {
      const { code, stdout } = await ops([...show.split(' '), reference]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^etag +abc *$/m);
    },
  );
});
