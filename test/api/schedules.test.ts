import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { compareOnce, startScheduleSync } from '#shared/operations/schedules/sync.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { eventually } from '#test/support/engine.ts';
import { oneStep, startTestApi, type TestApi } from './test-api.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let api: TestApi;
let workflowId: string;
/** Syncs schedules as a worker does, for changes that the API could not sync itself. */
let telling: ReturnType<typeof startScheduleSync>;
beforeAll(async () => {
  api = await startTestApi();
  telling = startScheduleSync({ ...api, log });
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
});
afterAll(async () => {
  await api.db.query(sql.unsafe`DELETE FROM schedules`);
  await telling.stop();
  await compareOnce({ ...api, log });
  await api.stop();
});

const create = (body: object) =>
  api.call('POST', '/api/schedules', { workflow_id: workflowId, cron: '0 0 * * *', ...body });
const temporalSide = (id: string) =>
  api.temporal.client.schedule.getHandle(`${api.config.temporal.taskQueuePrefix}-schedule-${id}`);
/** The API may respond before Temporal has the schedule. */
const isThere = async (id: string): Promise<boolean> =>
  temporalSide(id)
    .describe()
    .then(
      () => true,
      () => false,
    );
const audited = async () => (await api.call('GET', '/api/audit?limit=1')).body.logs[0];

describe('a schedule', () => {
  test('is created with defaults, listed newest first, changed and deleted', async () => {
    const made = await create({ input: { team: 'a' } });
    expect([made.status, made.headers['location']]).toEqual([
      201,
      `/api/schedules/${made.body.id}`,
    ]);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^sch_[0-9a-z]{26}$/),
      workflow_id: workflowId,
      name: null,
      cron: '0 0 * * *',
      timezone: 'UTC',
      input: { team: 'a' },
      enabled: true,
      overlap: 'skip',
      next_run_at: expect.stringMatching(/T00:00:00\.000Z$/),
      last_run_at: null,
      last_run_id: null,
      last_skip: null,
      sync_error: null,
      created_at: expect.any(String),
      etag: expect.any(String),
    });
    expect(await audited()).toMatchObject({
      action: 'schedule_create',
      target_type: 'workflow',
      target_id: workflowId,
      details: { schedule_id: made.body.id, cron: '0 0 * * *' },
    });
    const second = (await create({ name: 'Second' })).body;
    const list = (await api.call('GET', '/api/schedules')).body;
    expect(list.map((each: { id: string }) => each.id)).toEqual([second.id, made.body.id]);
    const page = (await api.call('GET', '/api/schedules?limit=1&offset=1')).body;
    expect(page).toEqual([made.body]);

    const url = `/api/schedules/${second.id}`;
    const changed = await api.call('PUT', url, {
      cron: '30 8 * * 1-5',
      timezone: 'europe/berlin',
      enabled: false,
      name: null,
    });
    expect(changed.body).toEqual({
      ...second,
      name: null,
      cron: '30 8 * * 1-5',
      timezone: 'Europe/Berlin',
      enabled: false,
      next_run_at: null,
      etag: expect.any(String),
    });
    expect(await audited()).toMatchObject({
      action: 'schedule_update',
      details: { schedule_id: second.id, cron: '30 8 * * 1-5' },
    });
    expect((await api.call('DELETE', url)).status).toBe(204);
    expect(await audited()).toMatchObject({ action: 'schedule_delete', target_id: workflowId });
    expect((await api.call('GET', url)).body).toEqual({ detail: 'Schedule not found' });
    expect((await api.call('DELETE', url)).status).toBe(404);
  });

  test('has the same next run time as Temporal', async () => {
    for (const timing of [
      { cron: '17 */5 * * *', timezone: 'Asia/Kolkata' },
      { cron: '0 9 1 * mon', timezone: 'America/New_York' },
      { cron: '@monthly', timezone: 'UTC' },
    ]) {
      const { body } = await create(timing);
      await eventually(() => isThere(body.id), 30_000);
      const { info } = await temporalSide(body.id).describe();
      // Temporal adds some seconds of jitter, so that not everything starts at once.
      const [next] = info.nextActionTimes;
      expect(body.next_run_at.slice(0, 16)).toBe(next?.toISOString().slice(0, 16));
    }
  });

  test('is deleted with its workflow, also in Temporal', async () => {
    const other = (await api.call('POST', '/api/workflows', { name: 'y', graph: oneStep })).body.id;
    const { id } = (await create({ workflow_id: other })).body;
    await eventually(() => isThere(id), 30_000);
    expect((await api.call('DELETE', `/api/workflows/${other}`)).status).toBe(204);
    expect((await api.call('GET', `/api/schedules/${id}`)).status).toBe(404);
    await eventually(async () => !(await isThere(id)));
  });

  test.each([
    [{ cron: '0 0 30 2 *' }, /^Invalid body: cron is never due$/],
    [{ cron: '* * * * * *' }, /^Invalid body: cron must have five fields/],
    [{ cron: Array(60).fill('*').join(' ') }, /^Invalid body: cron must have five fields/],
    [{ cron: '61 * * * *' }, /^Invalid body: cron is not understood: minute '61' is not 0 to 59$/],
    [{ cron: '0 0 * * FRI-MON' }, /^Invalid body: cron is not understood: day of week 'FRI-MON' /],
    [{ timezone: 'Mars/Olympus' }, /^Invalid body: timezone 'Mars\/Olympus' is not/],
    [{ timezone: '+02:00' }, /^Invalid body: timezone /],
  ])('cannot be created or changed with %j', async (wrong, detail) => {
    const { id } = (await create({})).body;
    for (const answer of [
      await create(wrong),
      await api.call('PUT', `/api/schedules/${id}`, wrong),
    ]) {
      expectRefusal(answer, 400, expect.stringMatching(detail));
    }
  });

  test('needs an existing workflow and cannot change it', async () => {
    expect((await create({ workflow_id: 'wf_none' })).body).toEqual({
      detail: 'Workflow not found',
    });
    const { id } = (await create({})).body;
    const change = { workflow_id: 'wf_other' };
    expect((await api.call('PUT', `/api/schedules/${id}`, change)).body).toEqual({
      detail: 'workflow_id: cannot be changed; create another schedule',
    });
    const same = { workflow_id: workflowId, overlap: 'allow' };
    expect((await api.call('PUT', `/api/schedules/${id}`, same)).body.overlap).toBe('allow');
  });
});

describe('triggering a schedule', () => {
  test('starts a run, also when disabled; an overlapping one is 409 unless allowed', async () => {
    const { id } = (await create({ input: { ticket: 'x' }, enabled: false })).body;
    const { status, body } = await api.call('POST', `/api/schedules/${id}/trigger`);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ status: 'pending', trigger: 'schedule', input: { ticket: 'x' } }),
    ]);
    expect((await api.call('GET', `/api/runs/${body.run_id}`)).status).toBe(200);
    expect(await audited()).toMatchObject({
      action: 'schedule_run',
      actor_name: 'Owner',
      target_id: workflowId,
      details: { run_id: body.run_id, schedule_id: id, cron: '0 0 * * *' },
    });
    expect((await api.call('GET', `/api/schedules/${id}`)).body).toMatchObject({
      last_run_id: body.run_id,
      last_run_at: body.created_at,
    });
    const again = await api.call('POST', `/api/schedules/${id}/trigger`);
    expectRefusal(again, 409, 'The previous run of this schedule has not ended');
    await api.call('PUT', `/api/schedules/${id}`, { overlap: 'allow' });
    expect((await api.call('POST', `/api/schedules/${id}/trigger`)).status).toBe(201);
  });

  test('is refused over budget or with an invalid graph', async () => {
    const empty = (await api.call('POST', '/api/workflows', { name: 'empty' })).body.id;
    const invalid = (await create({ workflow_id: empty })).body;
    expect((await api.call('POST', `/api/schedules/${invalid.id}/trigger`)).status).toBe(400);
    const { id } = (await create({})).body;
    const budget = await api.call('POST', '/api/budgets', {
      name: 'Tight',
      limit_usd: 0.01,
      reservation_estimate_usd: 0.02,
    });
    const { status, body } = await api.call('POST', `/api/schedules/${id}/trigger`);
    expectRefusal({ status, body }, 402, expect.stringMatching(/^Budget 'Tight' exhausted/));
    await api.call('DELETE', `/api/budgets/${budget.body.id}`);
    expect((await api.call('GET', `/api/schedules/${id}`)).body.last_run_id).toBeNull();
  });
});
