import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { MAX_FINDINGS } from '#shared/contract/policies/backtest.ts';
import { type Policies, policiesInput } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { failJob, requeueLostJobs } from '#shared/db/jobs/jobs.ts';
import { sql } from '#shared/db/pool.ts';
import { deleteWorkflow } from '#shared/db/workflows/workflows.ts';
import { advanceJob } from '#shared/operations/jobs/advance.ts';
import { cancelBacktest } from '#shared/operations/policies/backtests.ts';
import { sweepPart } from '#shared/operations/sweep.ts';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import {
  backtest,
  begin,
  ended,
  everyKind,
  pastRuns,
  pastWorkflow,
  registerNotify,
  readPage,
} from '#test/support/backtests.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { setting } from '#test/support/settings.ts';
import { fetchHistory } from '#test/engine/histories.ts';
import { echo, edge, eventually, mock, startEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

const tools = useStage(startToolServer);
const mcp = useStage(startMcpServer);
const models = useStage(startModelServer);
const engine = useStage(() => startEngine({ env: modelSettings(models) }));
beforeAll(() => registerNotify(engine, tools));
afterEach(async () => {
  await set({});
  await engine.db.query(sql.unsafe`DELETE FROM runs`);
  await engine.db.query(sql.unsafe`DELETE FROM workflows`);
});

type Given = z.input<typeof policiesInput>;
const policies = (given: Given): Policies => policiesInput.parse(given);
const set = (given: Given) => replacePolicies(engine.db, engine.actor, policies(given));
const ran = async (nodes: unknown[], edges: unknown[] = [], input = {}) => {
  const workflowId = await engine.define({ nodes, edges } as never);
  const run = await engine.until(await engine.trigger(workflowId, input), ['success', 'failed']);
  return { ...run, workflowId };
};
/** The differences that these policies make, by step key. */
const differences = async (given: Given) => {
  const { steps, ...rest } = await backtest(engine, { policies: given });
  const shown = Object.fromEntries(
    steps.map(({ step_key, before, after, reason }) => [step_key, [before, after, reason]]),
  );
  return { ...rest, shown };
};
const emails: Given = { redaction: { detectors: ['email'] } };

describe('a history of every kind of step', () => {
  const strict: Given = {
    model_allowlist: ['mock'],
    tools: [
      { tool: 'http_request', blocked_arguments: [{ argument: 'body.country', values: ['KP'] }] },
    ],
    redaction: { detectors: ['email'], patterns: [{ name: 'code', regex: '[A-Z]{6,}' }] },
  };

  test('has no differences under the policies that were in force', async () => {
    await set(strict);
    const run = await everyKind(engine, tools, mcp.url);
    const judged = run.steps.map(({ step_key }) => step_key);
    expect(judged).toEqual(
      expect.arrayContaining([
        'plain',
        'whole',
        'ask/1',
        'ask/1.1',
        'ask/1.2',
        'ask/2',
        'item#3',
        'mcp',
        'child',
        'blocked',
      ]),
    );
    const { shown, summary } = await differences(strict);
    expect(shown).toEqual({});
    // The whole state is not stored with a step, so that it cannot be said which pattern it would match.
    expect(summary).toEqual({
      judged: 13,
      would_block: 0,
      would_redact: 0,
      would_allow: 0,
      hidden: 1,
    });
  });

  test('is judged by the names of tools, and of workflows as tools', async () => {
    await everyKind(engine, tools, mcp.url);
    const { shown } = await differences({
      tools: [
        {
          tool: 'custom:notify',
          blocked_arguments: [{ argument: 'to', pattern: '@example\\.com$' }],
        },
        { tool: 'workflow:Child', allowed_workflow_ids: [] },
        { tool: 'mcp', blocked_arguments: [{ argument: 'arguments.a', values: [1] }] },
      ],
    });
    expect(
      Object.fromEntries(Object.entries(shown).map(([key, [, after]]) => [key, after])),
    ).toEqual({
      'ask/1.1': 'blocked',
      'ask/1.2': 'blocked',
      child: 'blocked',
      mcp: 'blocked',
    });
  });
});

describe('policies that are not in force', () => {
  test('would block a tool, a model and an argument', async () => {
    const post = tools.node('post', {
      params: { url: `${tools.url}/post`, method: 'POST', body: {} },
    });
    await ran(
      [echo('a'), mock('m', { output: 1 }, { prompt: 'Hi' }), post],
      [edge('a', 'm'), edge('m', 'post')],
    );
    const { shown, summary } = await differences({
      model_allowlist: ['openai/gpt-5'],
      tools: [
        { tool: 'json_transform', allowed_workflow_ids: [] },
        { tool: 'http_request', blocked_arguments: [{ argument: 'method', values: ['post'] }] },
      ],
    });
    expect(shown).toEqual({
      a: ['allowed', 'blocked', "Tool 'json_transform' is not allowed in this workflow"],
      m: ['allowed', 'blocked', "Model 'mock' is not on the workspace's list of allowed models"],
      post: ['allowed', 'blocked', "Argument 'method' of tool 'http_request' has a blocked value"],
    });
    expect(summary).toEqual({
      judged: 3,
      would_block: 3,
      would_redact: 0,
      would_allow: 0,
      hidden: 0,
    });
  });

  test('would redact what was sent, even next to what was redacted', async () => {
    await set(emails);
    await ran([
      mock('m', { output: 1 }, { prompt: 'Mail a@example.com, card 4111 1111 1111 1111' }),
    ]);
    const { shown } = await differences({ redaction: { detectors: ['email', 'credit_card'] } });
    expect(shown).toEqual({
      m: ['redacted', 'redacted', '1 value (1 credit_card) would be redacted'],
    });
  });

  test('would allow what was blocked and what was redacted', async () => {
    await set({ ...emails, tools: [{ tool: 'json_transform', allowed_workflow_ids: [] }] });
    await ran(
      [mock('m', { output: 1 }, { prompt: 'Mail a@example.com' }), echo('a')],
      [edge('m', 'a')],
    );
    const { shown, summary } = await differences({});
    expect(shown).toEqual({
      a: [
        'blocked',
        'allowed',
        "No longer refused: Tool 'json_transform' is not allowed in this workflow",
      ],
      m: ['redacted', 'allowed', '1 value (1 email) would no longer be redacted'],
    });
    expect(summary).toMatchObject({ would_allow: 2 });
  });

  test('would block a fallback model that responded, and allow one that was skipped', async () => {
    models.answers.push({ status: 500, message: 'down' });
    const failing = { prompt: 'Hi', model: 'openai/gpt-5', fallback_models: ['mock'] };
    await set({ model_allowlist: ['openai/gpt-5', 'mock'] });
    await ran([mock('m', { output: 1 }, failing)]);
    expect((await differences({ model_allowlist: ['openai/gpt-5'] })).shown).toEqual({
      m: [
        'allowed',
        'blocked',
        "Fallback model 'mock' is not on the workspace's list of allowed models",
      ],
    });
    await engine.db.query(sql.unsafe`DELETE FROM runs`);
    await set({ model_allowlist: ['openai/gpt-5'] });
    await ran([mock('m', { output: 1 }, failing)]);
    expect((await differences({})).shown).toEqual({
      m: ['allowed', 'allowed', "Fallback model 'mock' would be allowed"],
    });
  });

  test('cannot judge what another policy has hidden', async () => {
    await set(emails);
    const post = tools.node('post', {
      params: { url: `${tools.url}/post`, method: 'POST', body: { to: 'a@example.com' } },
    });
    await ran([post]);
    const blocked = [{ argument: 'body.to', pattern: 'a@' }];
    const unreadable = await differences({
      ...emails,
      tools: [{ tool: 'http_request', blocked_arguments: blocked }],
    });
    expect(unreadable.shown).toEqual({});
    expect(unreadable.summary).toMatchObject({ judged: 0, hidden: 1 });
    // Whether the phone detector finds the address cannot be said.
    const other = await differences({ redaction: { detectors: ['phone'] } });
    expect(other.summary).toMatchObject({ judged: 0, hidden: 1 });
  });

  test('judge the runs of one workflow, and those created since then', async () => {
    const one = await ran([echo('a')]);
    await ran([echo('b')]);
    const none = { tools: [{ tool: 'json_transform', allowed_workflow_ids: [] }] };
    const { steps } = await backtest(engine, { policies: none, workflow_id: one.workflowId });
    expect(steps.map(({ run_id, effect }) => [run_id, effect])).toEqual([[one.id, 'would_block']]);
    const since = new Date(Date.now() - 1).toISOString();
    const empty = await backtest(engine, { policies: none, since });
    expect(empty).toMatchObject({ status: 'done', progress: { done: 0, total: 0 }, steps: [] });
  });

  test('judge copies of steps once, where they were executed', async () => {
    const source = await ran([echo('a')]);
    await engine.db.query(sql.unsafe`UPDATE steps SET reused_from = 'run_other'`);
    const { summary } = await backtest(engine, { policies: {}, workflow_id: source.workflowId });
    expect(summary.judged).toBe(0);
  });
});

describe('a long backtest', () => {
  const redacting = { policies: emails };

  soakTest('keeps the first differences and counts all of them, page by page', async () => {
    const workflowId = await pastWorkflow(engine);
    await pastRuns(engine, workflowId, { runs: 7, steps: 3_000 });
    const blocking = { tools: [{ tool: 'http_request', allowed_workflow_ids: [] }] };
    const result = await backtest(engine, { policies: blocking });
    expect(result).toMatchObject({
      status: 'done',
      progress: { done: 21_000, total: 21_000 },
      summary: { judged: 21_000, would_block: 21_000 },
      truncated: true,
    });
    const seen = new Set<string>();
    for (let cursor: string | undefined; ;) {
      const page = await readPage(engine, result.id, { cursor });
      for (const { run_id, step_key } of page.steps) seen.add(`${run_id} ${step_key}`);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(seen.size).toBe(MAX_FINDINGS);
    const allowed = await readPage(engine, result.id, { effect: 'would_allow' });
    expect(allowed).toMatchObject({ steps: [], next_cursor: null });
  });

  soakTest('looks through runs without a step that policies judge', async () => {
    const workflowId = await pastWorkflow(engine);
    await pastRuns(engine, workflowId, { runs: 1, steps: 10 });
    await engine.db.query(sql.unsafe`UPDATE runs SET created_at = now() - interval '1 day'`);
    await pastRuns(engine, workflowId, { runs: 1_300, steps: 0 });
    await engine.db.query(
      sql.unsafe`UPDATE runs SET created_at = now() WHERE created_at > now() - interval '20 hours'`,
    );
    const { summary } = await backtest(engine, redacting);
    expect(summary).toMatchObject({ judged: 10, would_redact: 1 });
  });

  test('can be cancelled, and keeps its findings so far', async () => {
    const workflowId = await pastWorkflow(engine);
    await pastRuns(engine, workflowId, { runs: 30, steps: 1_000 });
    const id = await begin(engine, redacting);
    await eventually(async () => (await readPage(engine, id)).progress.done > 0);
    expect(await cancelBacktest(engine.deps, engine.actor, id)).toEqual({
      id,
      status: 'cancelled',
    });
    const { summary, progress } = await readPage(engine, id);
    expect(progress.done).toBeLessThan(30_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await readPage(engine, id)).toMatchObject({ status: 'cancelled', summary, progress });
    await expect(cancelBacktest(engine.deps, engine.actor, id)).rejects.toMatchObject({
      code: 'conflict',
      message: 'This backtest is not running: it is cancelled',
    });
  });

  soakTest('counts each page once, however many executions work on it', async () => {
    const workflowId = await pastWorkflow(engine);
    await pastRuns(engine, workflowId, { runs: 12, steps: 1_000 });
    const alone = await backtest(engine, redacting);
    const id = await begin(engine, redacting);
    const scope = { workspaceId: engine.actor.workspaceId, jobId: id, round: 1 };
    const others = Array.from({ length: 3 }, () =>
      advanceJob(engine.deps, scope, {
        onBatch: () => undefined,
        signal: new AbortController().signal,
      }),
    );
    await Promise.all(others);
    const together = await ended(engine, id);
    expect(together.summary).toEqual(alone.summary);
    expect(together.steps).toEqual(alone.steps);
    expect(await findings(id)).toBe(1_200);
  });

  soakTest('gets another execution when its own was terminated', async () => {
    const workflowId = await pastWorkflow(engine);
    await pastRuns(engine, workflowId, { runs: 20, steps: 1_000 });
    const id = await begin(engine, redacting);
    await eventually(async () => (await readPage(engine, id)).progress.done > 0);
    await engine.deps.temporal.client.workflow.getHandle(`${id}-1`).terminate();
    // What it was computing when it was terminated is still written.
    await eventually(async () => {
      await engine.db.query(sql.unsafe`
        UPDATE background_jobs SET updated_at = now() - interval '1 hour' WHERE id = ${id}`);
      return (await requeueLostJobs(engine.db, 10)) === 1;
    });
    const { status, summary } = await ended(engine, id);
    expect([status, summary.judged, summary.would_redact]).toEqual(['done', 20_000, 2_000]);
    expect(await findings(id)).toBe(2_000);
  });

  soakTest('has an execution that can be replayed', async () => {
    await pastRuns(engine, await pastWorkflow(engine), { runs: 1, steps: 100 });
    const { id } = await backtest(engine, redacting);
    const execution = `${id}-1`;
    const history = await fetchHistory(engine, execution);
    const workflowBundle = { codePath: setting('WORKFLOW_BUNDLE') };
    await Worker.runReplayHistory({ workflowBundle }, history, execution);
  });

  soakTest('ends when its workflow is deleted', async () => {
    const workflowId = await pastWorkflow(engine);
    await pastRuns(engine, workflowId, { runs: 3, steps: 1_000 });
    const id = await begin(engine, { ...redacting, workflow_id: workflowId });
    await deleteWorkflow(engine.db, engine.actor, workflowId);
    expect((await ended(engine, id)).status).toBe('done');
  });

  soakTest('fails with a reason when it cannot continue', async () => {
    const id = await begin(engine, redacting);
    await ended(engine, id);
    const job = { workspaceId: engine.actor.workspaceId, jobId: id, round: 1, error: 'late' };
    await failJob(engine.db, job);
    expect(await readPage(engine, id)).toMatchObject({ status: 'done', error: null });
    await engine.db.query(sql.unsafe`
      UPDATE background_jobs SET status = 'running', finished_at = NULL, round = 2 WHERE id = ${id}`);
    await failJob(engine.db, job);
    expect((await readPage(engine, id)).status).toBe('running');
    await failJob(engine.db, { ...job, round: 2 });
    expect(await readPage(engine, id)).toMatchObject({ status: 'failed', error: 'late' });
  });

  soakTest('is removed by the sweep a month after its end', async () => {
    await pastRuns(engine, await pastWorkflow(engine), { runs: 1, steps: 100 });
    const [old, recent] = [await backtest(engine, redacting), await backtest(engine, redacting)];
    await engine.db.query(sql.unsafe`
      UPDATE background_jobs SET finished_at = now() - interval '31 days' WHERE id = ${old.id}`);
    await sweepPart(engine.deps);
    await expect(readPage(engine, old.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await findings(old.id)).toBe(0);
    expect((await readPage(engine, recent.id)).steps).toHaveLength(10);
  });
});

const findings = (jobId: string) =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM backtest_findings WHERE job_id = ${jobId}`);
