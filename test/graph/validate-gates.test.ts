import { describe, expect, test } from '@jest/globals';
import { checkGraph } from '../../shared/graph-check.ts';
import { settingsOf } from '../../shared/graph/gate-settings.ts';

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
      { approvers: {} },
      'invalid_value',
      'nodes[0].approvers',
      'nodes[0].approvers: needs `roles` or `members`',
    ],
    [
      { approvers: { roles: ['owner'] } },
      'invalid_value',
      'nodes[0].approvers.roles[0]',
      'nodes[0].approvers.roles[0]: Invalid option: expected one of "admin"|"editor"|"viewer"',
    ],
    [
      { required: 6 },
      'invalid_value',
      'nodes[0].required',
      'nodes[0].required: Too big: expected number to be <=5',
    ],
  ])('%j is reported where it is', (settings, code, path, message) => {
    expect(issues(settings)).toEqual([[code, path, message]]);
  });

  test('are compared with the members only where those are known', () => {
    const settings = { required: 2, approvers: { members: ['mem_gone'] } };
    expect(issues(settings)).toEqual([]);
    expect(issues(settings, []).map(([code]) => code)).toEqual([
      'gate_approver_unknown',
      'gate_too_few_approvers',
    ]);
  });

  test('of a version from before timeouts had an effect are none', () => {
    const node = { id: 'review', kind: 'human_gate', prompt: '' } as const;
    expect(settingsOf({ ...node, timeout_seconds: 60 })).toBeUndefined();
    expect(settingsOf({ ...node, not_the_starter: false })).toBeUndefined();
  });
});
