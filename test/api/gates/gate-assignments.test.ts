import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { echo, edge } from '#test/support/engine.ts';
import { addMember, type Person } from '#test/support/people.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi();
let ann: Person;
let ben: Person;
let viewer: Person;
beforeAll(async () => {
  ann = await addMember({ call }, { name: 'Ann', role: 'editor' });
  ben = await addMember({ call }, { name: 'Ben', role: 'editor' });
  viewer = await addMember({ call }, { name: 'Vera', role: 'viewer' });
});

/** A run that waits at a gate with these settings. */
async function waiting(settings: JsonObject = {}): Promise<string> {
  const workflowId = await engine.define({
    nodes: [
      { id: 'review', kind: 'human_gate', prompt: 'Pay?', ...settings } as never,
      echo('paid'),
    ],
    edges: [edge('review', 'paid', 'true')],
  });
  const runId = await engine.trigger(workflowId);
  await engine.until(runId, ['paused']);
  return runId;
}

const assign = (runId: string, body: object, by = ann.headers) =>
  call('POST', `/api/runs/${runId}/assign`, body, by);

const assignedTo = async (whom: string, by = ann.headers): Promise<string[]> =>
  (await call('GET', `/api/approvals?assigned_to=${whom}`, undefined, by)).body.approvals.map(
    ({ run_id }: { run_id: string }) => run_id,
  );

const entries = async (runId: string) =>
  (await call('GET', `/api/audit?target_id=${runId}&action=assign`)).body.logs
    .toReversed()
    .map(({ actor_id, details }: JsonObject) => ({ actor_id, details }));

test('a gate is assigned, reassigned and unassigned', async () => {
  const runId = await waiting();
  const gate = async (by = ann.headers) =>
    (await call('GET', `/api/runs/${runId}/gates/review`, undefined, by)).body;
  const before = await gate();
  expect(before.assignee).toBeNull();
  expect(before.eligible_members.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['Ann', 'Ben']),
  );
  expect(JSON.stringify(before.eligible_members)).not.toContain('Vera');

  const assigned = await assign(runId, { member_id: ben.id });
  expect(assigned).toMatchObject({
    status: 200,
    body: { pending_gate: { assignee: { id: ben.id, name: 'Ben' } } },
  });
  expect(await assignedTo('me', ben.headers)).toEqual([runId]);
  expect(await assignedTo(ben.id)).toEqual([runId]);
  expect(await assignedTo('me')).toEqual([]);
  // The same again changes nothing.
  expect((await assign(runId, { member_id: ben.id, step_key: 'review' })).status).toBe(200);
  await assign(runId, { member_id: ann.id, node_id: 'review' }, ben.headers);
  expect((await gate()).assignee).toEqual({ id: ann.id, name: 'Ann' });
  await assign(runId, { member_id: null });
  expect((await gate()).assignee).toBeNull();
  const at = { node_id: 'review', step_key: 'review' };
  expect(await entries(runId)).toEqual([
    { actor_id: ann.id, details: { ...at, member_id: ben.id, before: null } },
    { actor_id: ben.id, details: { ...at, member_id: ann.id, before: ben.id } },
    { actor_id: ann.id, details: { ...at, member_id: null, before: ann.id } },
  ]);
  // Others can still decide it.
  await assign(runId, { member_id: ben.id });
  expect((await call('POST', `/api/runs/${runId}/approve`, {}, ann.headers)).status).toBe(200);
  await engine.until(runId, ['success']);
  expect(await gate()).toMatchObject({ status: 'approved', eligible_members: [] });
  expect(await assignedTo('me', ben.headers)).toEqual([]);
});

test('only a member who can decide a gate can be assigned to it', async () => {
  const runId = await waiting({ required: 2, approvers: { members: [ann.id, ben.id] } });
  const refused = async (body: object, by = ann.headers) => {
    const { status, body: error } = await assign(runId, body, by);
    return [status, error.detail];
  };
  const owner = (await call('GET', '/api/auth/me')).body;
  expect(await refused({ member_id: viewer.id })).toEqual([
    409,
    "Vera cannot decide gate 'review': assign one of its eligible_members",
  ]);
  expect((await refused({ member_id: owner.id }))[0]).toBe(409);
  expect(await refused({ member_id: 'mem_unknown' })).toEqual([
    400,
    "Invalid body: member_id: no member has the id 'mem_unknown'",
  ]);
  expect((await refused({}))[0]).toBe(400);
  expect((await refused({ member_id: ben.id, node_id: 'paid' }))[0]).toBe(409);
  expect((await refused({ member_id: ben.id }, viewer.headers))[0]).toBe(403);
  expect((await assign('run_unknown', { member_id: ben.id })).status).toBe(404);

  expect((await call('POST', `/api/runs/${runId}/approve`, {}, ann.headers)).status).toBe(200);
  expect((await refused({ member_id: ann.id }))[0]).toBe(409);
  expect((await assign(runId, { member_id: ben.id })).status).toBe(200);
  expect(await entries(runId)).toHaveLength(1);
  await call('POST', `/api/runs/${runId}/approve`, {}, ben.headers);
  await engine.until(runId, ['success']);
  expect(await refused({ member_id: ben.id })).toEqual([
    409,
    "Gate 'review' has already been approved by Ben",
  ]);
});

test('an assignee who leaves no longer counts, and a key without a member has no gates', async () => {
  const runId = await waiting();
  const leaving = await addMember({ call }, { name: 'Lea', role: 'editor' });
  await assign(runId, { member_id: leaving.id });
  const { headers } = await call('GET', `/api/members/${leaving.id}`);
  const removed = await call('DELETE', `/api/members/${leaving.id}`, undefined, {
    'if-match': String(headers['etag']),
  });
  expect(removed.status).toBeLessThan(300);
  const { pending_gate } = (await call('GET', `/api/runs/${runId}`)).body;
  expect(pending_gate.assignee).toBeUndefined();

  const secret = `ops_${newId('apiKey')}`;
  await engine.db.query(sql.unsafe`
    INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role)
    VALUES (${newId('apiKey')}, ${engine.actor.workspaceId}, 'k', 'ops_',
            ${sql.binary(createHash('sha256').update(secret).digest())}, 'editor')`);
  expect(
    await call('GET', '/api/approvals?assigned_to=me', undefined, { 'x-api-key': secret }),
  ).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('not linked to a member') },
  });
});

test('a concurrent decision and assignment each succeed or report what they found', async () => {
  for (let at = 0; at < 20; at += 1) {
    const runId = await waiting();
    const [assigned, decided] = await Promise.all([
      assign(runId, { member_id: ben.id }),
      call('POST', `/api/runs/${runId}/approve`, {}, ann.headers),
    ]);
    expect(decided.status).toBe(200);
    expect([200, 409]).toContain(assigned.status);
    expect(await entries(runId)).toHaveLength(assigned.status === 200 ? 1 : 0);
  }
}, 60_000);
