import { beforeAll, expect, test } from '@jest/globals';
import type { JsonObject } from '#shared/json.ts';
import { edge } from '#test/support/engine.ts';
import { addMember, type Person } from '#test/support/people.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi();
let ann: Person;
let viewer: Person;
beforeAll(async () => {
  ann = await addMember({ call }, { name: 'Ann', role: 'editor' });
  viewer = await addMember({ call }, { name: 'Vera', role: 'viewer' });
});

const list = async (query = '', by = viewer.headers) =>
  (await call('GET', `/api/approvals/decided${query}`, undefined, by)).body;

const startOf = async (nodes: object[]): Promise<string> => {
  const runId = await engine.trigger(
    await engine.define({ nodes: nodes as never, edges: [edge('one', 'two')] }),
  );
  await engine.until(runId, ['paused']);
  return runId;
};

test('decisions are listed newest first, with who decided, and page by page', async () => {
  const runId = await startOf([
    { id: 'one', kind: 'human_gate', label: 'First?' },
    { id: 'two', kind: 'human_gate', timeout_seconds: 1, on_timeout: 'reject' },
  ]);
  expect((await list()).decided).toEqual([]);
  const body = { node_id: 'one', reason: 'looks good' };
  expect(await call('POST', `/api/runs/${runId}/approve`, body, ann.headers)).toMatchObject({
    status: 200,
  });
  await engine.until(runId, ['failed']);

  const { decided, next_cursor } = await list();
  expect(next_cursor).toBeNull();
  expect(decided).toMatchObject([
    { step_key: 'two', decider: null, decision: { approved: false, by_kind: 'deadline' } },
    {
      ...{ run_id: runId, step_key: 'one', round: 1, kind: 'human_gate', label: 'First?' },
      decision: { approved: true, by: 'Ann', by_kind: 'member', reason: 'looks good' },
      ...{ decider: { id: ann.id, name: 'Ann' }, changed_arguments: false },
    },
  ]);
  const first = await list('?limit=1');
  const second = await list(`?limit=1&cursor=${first.next_cursor}`);
  expect([...first.decided, ...second.decided]).toEqual(decided);
  expect(second.next_cursor).toBeNull();

  // A fork keeps the decision as history: no one decided again.
  const fork = await call('POST', `/api/runs/${runId}/fork`, { from_step: 'two' }, ann.headers);
  expect(fork).toMatchObject({ status: 201 });
  expect((await list()).decided.map((row: JsonObject) => row['run_id'])).toEqual([runId, runId]);
  await call('POST', `/api/runs/${fork.body.id}/cancel`);
});

test('a call that was approved with other arguments says so, and has them for approvers', async () => {
  const turn = { calls: [{ tool: 'json_transform', arguments: { expression: '20 + 1' } }] };
  const agent = {
    ...{ id: 'one', kind: 'agent', prompt: 'Compute' },
    tools: [{ name: 'json_transform', approval: 'always' }],
    mock: { turns: [turn, { output: 'done' }] },
  };
  const runId = await startOf([agent, { id: 'two', kind: 'human_gate' }]);
  const gate = async (by: Person) =>
    (await call('GET', `/api/runs/${runId}/gates/one%2F1.1`, undefined, by.headers)).body;
  const before = await gate(ann);
  expect(before).toMatchObject({ decider: null, decision: null });
  expect(before).not.toHaveProperty('decided_arguments');
  const answer = {
    ...{ step_key: 'one/1.1', digest: before.digest, arguments: { expression: '6 * 7' } },
  };
  expect(await call('POST', `/api/runs/${runId}/approve`, answer, ann.headers)).toMatchObject({
    status: 200,
  });
  expect((await list('?limit=1')).decided).toMatchObject([
    { run_id: runId, kind: 'tool_call', changed_arguments: true, decider: { id: ann.id } },
  ]);
  const after = { decider: { id: ann.id, name: 'Ann' }, decided_arguments: answer.arguments };
  expect(await gate(ann)).toMatchObject(after);
  expect(await gate(viewer)).toMatchObject({ ...after, decided_arguments: null });
  await call('POST', `/api/runs/${runId}/cancel`);
});
