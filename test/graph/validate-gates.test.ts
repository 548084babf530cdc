import { describe, expect, test } from '@jest/globals';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { decidersOf, type MemberStanding, settingsOf } from '#shared/graph/gates/gate-settings.ts';

const issues = (settings: object, members?: Parameters<typeof checkGraph>[1]['members']) => {
  const node = { id: 'review', kind: 'human_gate', ...settings };
  const context = { tools: new Set<string>(), customTools: new Map(), ...(members && { members }) };
  const { errors, warnings } = checkGraph({ nodes: [node], edges: [] }, context);
  return [...errors, ...warnings].map(({ code, path, message }) => [code, path, message]);
};

describe('the settings of a gate', () => {
  test.each<[object, string, string, string]>([
    [
      { timeout_seconds: 60 },
      'gate_timeout_incomplete',
      'nodes[0].timeout_seconds',
      "Node 'review': timeout_seconds needs on_timeout: set it to 'reject', 'approve' or 'fail', or remove the timeout",
    ],
    [
      { on_timeout: 'fail' },
      'gate_timeout_incomplete',
      'nodes[0].on_timeout',
      "Node 'review': on_timeout 'fail' needs timeout_seconds: set how long the gate waits, or remove on_timeout",
    ],
    [
      { timeout_seconds: 60, on_timeout: 'fail', remind_seconds: 60 },
      'gate_reminds_too_late',
      'nodes[0].remind_seconds',
      "Node 'review': the first reminder would come after the timeout: set remind_seconds below 60",
    ],
    [
      { recheck: true },
      'gate_rechecks_nothing',
      'nodes[0].recheck',
      "Node 'review': recheck repeats nothing, because no step before the gate only reads: remove it, or read with http_request (GET), entity_search or feed_list",
    ],
    [
      { recheck: { after_seconds: -1 } },
      'invalid_value',
      'nodes[0].recheck.after_seconds',
      'nodes[0].recheck.after_seconds must be at least 0',
    ],
    [
      { approvers: {} },
      'invalid_value',
      'nodes[0].approvers',
      'nodes[0].approvers needs `roles` or `members`',
    ],
    [
      { approvers: { roles: ['owner'] } },
      'invalid_value',
      'nodes[0].approvers.roles[0]',
      'nodes[0].approvers.roles[0] must be one of "admin", "editor", "viewer"',
    ],
    [{ required: 6 }, 'invalid_value', 'nodes[0].required', 'nodes[0].required must be at most 5'],
  ])('%j is reported at its location', (settings, code, path, message) => {
    expect(issues(settings)).toEqual([[code, path, message]]);
  });

  test('a recheck is in order with a read before the gate', () => {
    const read = (method: string) => ({
      ...{ id: 'read', kind: 'tool', tool_name: 'http_request' },
      params: { url: 'https://far.test/', method },
    });
    const codes = (method: string) => {
      const review = { id: 'review', kind: 'human_gate', prompt: '', recheck: true };
      const graph = {
        nodes: [read(method), review],
        edges: [{ source: 'read', target: 'review' }],
      };
      const { warnings } = checkGraph(graph, {
        tools: new Set(['http_request']),
        customTools: new Map(),
      });
      return warnings.map(({ code }) => code);
    };
    expect(codes('GET')).toEqual([]);
    expect(codes('POST')).toEqual(['gate_rechecks_nothing']);
  });

  test('are compared with the members only if those are known', () => {
    const settings = { required: 2, approvers: { members: ['mem_gone'] } };
    expect(issues(settings)).toEqual([]);
    expect(issues(settings, []).map(([code]) => code)).toEqual([
      'gate_approver_unknown',
      'gate_too_few_approvers',
    ]);
  });

  test('of a version from before timeouts had an effect do not count', () => {
    const node = { id: 'review', kind: 'human_gate', prompt: '' } as const;
    expect(settingsOf({ ...node, timeout_seconds: 60 })).toBeUndefined();
    expect(settingsOf({ ...node, not_the_starter: false })).toBeUndefined();
  });
});

describe('who can still decide a gate', () => {
  const member = (id: string, rest: Partial<MemberStanding> = {}): MemberStanding => ({
    ...{ id, name: id, role: 'editor', active: true, overrides: {}, ...rest },
  });
  const members = [
    member('ann'),
    member('ben'),
    member('root', { role: 'admin' }),
    member('guest', { active: false }),
    member('viewer', { role: 'viewer' }),
    member('barred', { role: 'admin', overrides: { approve_gates: false } }),
  ];
  const nobody = { starters: [], approved: [] };

  test.each<[string, object, { starters: string[]; approved: string[] }, number, boolean]>([
    ['anyone who may approve', { required: 2 }, nobody, 3, false],
    ['all but the starter', { not_the_starter: true }, { ...nobody, starters: ['ann'] }, 2, false],
    [
      'all but several starters',
      { not_the_starter: true },
      { ...nobody, starters: ['ann', 'ben'] },
      1,
      false,
    ],
    ['those named', { approvers: { members: ['ann', 'gone'] } }, nobody, 1, false],
    ['those who have not approved', { required: 2 }, { ...nobody, approved: ['ann'] }, 2, false],
    ['admins, where those named are gone', { approvers: { members: ['gone'] } }, nobody, 1, true],
    [
      'admins, where those named are not active',
      { approvers: { members: ['guest'] } },
      nobody,
      1,
      true,
    ],
    [
      'admins, where those named are too few',
      { required: 2, approvers: { members: ['ann', 'gone'] } },
      ...[nobody, 2, true],
    ],
    [
      'those left, once enough have approved',
      { required: 2, approvers: { members: ['ann', 'ben'] } },
      ...[{ ...nobody, approved: ['gone'] }, 2, false],
    ],
    [
      'nobody, where the only admin has started the run',
      { not_the_starter: true, approvers: { members: ['gone'] } },
      ...[{ ...nobody, starters: ['root'] }, 0, true],
    ],
  ] as never)('is %s', (_, settings, given, count, adminsStandIn) => {
    const { starters, approved } = given as { starters: string[]; approved: string[] };
    const decisions = approved.map((member_id) => ({ member_id }));
    const deciders = decidersOf(settings, members, { starters, decisions });
    expect({ ...deciders, members: deciders.members.length }).toEqual({
      members: count,
      adminsStandIn,
    });
  });
});
