import { afterEach, describe, expect, test } from '@jest/globals';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { listGovernanceEvents } from '#shared/db/policies/governance.ts';
import { readPolicies, replacePolicies } from '#shared/db/policies/policies.ts';
import { replacePrices } from '#shared/db/money/prices.ts';
import { beginStep } from '#shared/db/steps/steps.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { startHttpServer } from '#test/fakes/http-server.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, mock, startEngine } from '#test/support/engine.ts';
import { raceRounds } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

const tools = useStage(startToolServer);
const models = useStage(startModelServer);
const engine = useStage(() => startEngine({ env: modelSettings(models) }));
afterEach(() => set({}));

const set = (policies: Partial<Policies>) =>
  replacePolicies(engine.db, engine.actor, { ...unrestricted, ...policies });
const redacting = (...detectors: Policies['redaction']['detectors']) => ({
  redaction: { detectors, patterns: [] },
});
const events = (runId: string, workspaceId = engine.actor.workspaceId) =>
  listGovernanceEvents(engine.db, workspaceId, { run_id: runId, limit: 200, offset: 0 });
const runOf = async (nodes: unknown[], edges: unknown[] = [], input = {}) => {
  const workflowId = await engine.define({ nodes, edges } as never);
  return { workflowId, runId: await engine.trigger(workflowId, input) };
};
const agent = (rest: object) => ({ id: 'ask', kind: 'agent', model: 'openai/gpt-5', ...rest });

test('a changed price applies to the next step of a run in progress', async () => {
  const priced = (input_usd_per_million: number) =>
    replacePrices(engine.db, engine.actor, [
      { model: 'openai/gpt-5', input_usd_per_million, output_usd_per_million: 0 },
    ]);
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 1 };
  models.answers.push({ text: 'one', usage }, { text: 'two', usage }, { text: 'three', usage });
  const gate = (id: string) => ({ id, kind: 'human_gate', prompt: 'Continue?' });
  const { runId } = await runOf(
    [agent({ id: 'first' }), gate('one'), agent({ id: 'second' }), gate('two'), agent({})],
    [edge('first', 'one'), edge('one', 'second'), edge('second', 'two'), edge('two', 'ask')],
  );
  const costs = async () =>
    (await engine.run(runId)).steps
      .filter(({ kind }) => kind === 'agent')
      .map(({ cost_usd }) => cost_usd);
  const priceAt = async (stepKey: string, price: number) => {
    const opened = async () =>
      (await engine.run(runId)).steps.some(({ step_key }) => step_key === stepKey);
    await eventually(opened, 20_000);
    await priced(price);
    await engine.approve(runId, { stepKey });
  };
  try {
    await priceAt('one', 3);
    await priceAt('two', 7);
    await engine.until(runId, ['success']);
    expect((await costs()).slice(1)).toEqual([3, 7]);
  } finally {
    await replacePrices(engine.db, engine.actor, []);
  }
});

describe('a tool', () => {
  test('not allowed in the workflow fails without a call or retry, with one event', async () => {
    await set({ tools: [{ tool: 'http_request', allowed_workflow_ids: ['wf_other'] }] });
    const node = tools.node('denied', { retry: { max_attempts: 5 } });
    const { runId, workflowId } = await runOf([node]);
    const run = await engine.until(runId, ['failed']);
    const reason = "Tool 'http_request' is not allowed in this workflow";
    expect(run.error).toBe(`Node 'denied' failed: ${reason}`);
    expect(run.steps[0]).toMatchObject({ status: 'failed', attempt: 1, error: reason });
    expect(tools.calls('denied')).toEqual([]);
    const verdict = {
      type: 'policy_denied',
      policy: 'tool_permission',
      decision: 'denied',
      reason,
      evidence: { tool: 'http_request', workflow_id: workflowId },
    };
    expect(run.steps[0]?.policy).toEqual([verdict]);
    expect(await events(runId)).toEqual([
      {
        ...verdict,
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        workspace_id: engine.actor.workspaceId,
        workflow_id: workflowId,
        version: 1,
        run_id: runId,
        node_id: 'denied',
        actor_id: null,
        created_at: expect.any(String),
      },
    ]);
    expect(await events(runId, 'ws_other')).toEqual([]);
  });

  test('that only computes is checked too', async () => {
    await set({ tools: [{ tool: 'json_transform', allowed_workflow_ids: [] }] });
    const { runId } = await runOf([echo('a')]);
    const run = await engine.until(runId, ['failed']);
    expect(run.steps[0]?.error).toBe("Tool 'json_transform' is not allowed in this workflow");
    expect(await events(runId)).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])(
    'does not follow a redirect (%d) to a blocked address',
    async (status) => {
      const { port } = new URL(tools.url);
      const redirecting = await startHttpServer((request, response) => {
        const step = Number(request.url.slice(1));
        const next = step < 2 ? `/${step + 1}` : `HTTP:\\\\127.1:0${port}/secret?x`;
        response.writeHead(status, { location: next }).end();
      });
      const blocked_arguments = [{ argument: 'url', values: [`${tools.url}/secret`] }];
      await set({ tools: [{ tool: 'http_request', blocked_arguments }] });
      const before = tools.calls('secret').length;
      const node = tools.node('hop', { params: { url: `${redirecting.url}/1` } });
      const { runId } = await runOf([node]);
      const run = await engine.until(runId, ['failed', 'success']);
      expect(run.steps[0]?.error).toBe(
        `'127.0.0.1:${redirecting.port}' redirects to an address that a policy blocks: Argument 'url' of tool 'http_request' has a blocked value`,
      );
      expect(redirecting.seen).toHaveLength(2);
      expect(tools.calls('secret')).toHaveLength(before);
      expect(await events(runId)).toMatchObject([
        { type: 'tool_argument_blocked', evidence: { argument: 'url' } },
      ]);
      await redirecting.close();
    },
  );

  test('with a blocked value in its rendered arguments is not called', async () => {
    const blocked_arguments = [{ argument: 'body.country', values: ['KP'] }];
    await set({ tools: [{ tool: 'http_request', blocked_arguments }] });
    const node = tools.node('ship', {
      params: { url: `${tools.url}/ship`, method: 'POST', body: { country: '{country}' } },
    });
    const workflowId = await engine.define(chain(node));
    const blocked = await engine.until(await engine.trigger(workflowId, { country: 'KP' }), [
      'failed',
    ]);
    expect(blocked.steps[0]?.error).toBe(
      "Argument 'body.country' of tool 'http_request' has a blocked value",
    );
    expect(tools.calls('ship')).toEqual([]);
    const [event, ...more] = await events(blocked.id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: 'tool_argument_blocked',
      policy: 'tool_argument',
      decision: 'blocked',
      evidence: { tool: 'http_request', argument: 'body.country', rule: 'values' },
    });
    const allowed = await engine.until(await engine.trigger(workflowId, { country: 'FR' }), [
      'success',
    ]);
    expect(tools.calls('ship')).toHaveLength(1);
    expect(await events(allowed.id)).toEqual([]);
  });

  test('sends and stores redacted arguments, with one event over all tries', async () => {
    await set(redacting('email', 'credit_card', 'ip'));
    tools.answer('note', { status: 503 });
    const node = tools.node('note', {
      params: { url: `${tools.url}/note`, method: 'POST', body: { text: '{text}' } },
      retry: { max_attempts: 4, initial_interval_seconds: 0.05, backoff: 1 },
    });
    const text = 'jane@example.com and joe@example.com paid with 4111 1111 1111 1111';
    const { runId } = await runOf([node], [], { text });
    await eventually(() => tools.calls('note').length >= 2, 20_000);
    tools.answer('note', {});
    const run = await engine.until(runId, ['success']);
    const redacted = '[REDACTED:email] and [REDACTED:email] paid with [REDACTED:credit_card]';
    for (const call of tools.calls('note')) {
      expect(JSON.parse(call.body)).toEqual({ text: redacted });
    }
    expect(run.steps[0]?.input).toMatchObject({ body: { text: redacted } });
    expect(run.steps[0]?.attempt).toBeGreaterThan(1);
    expect(run.steps[0]?.policy).toHaveLength(1);
    const told = await events(runId);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({
      type: 'data_redacted',
      policy: 'dlp',
      decision: 'redacted',
      evidence: { email: 2, credit_card: 1 },
    });
    expect(JSON.stringify(told)).not.toContain('jane');
  });
});

describe('an agent', () => {
  test('sends and stores its prompts redacted', async () => {
    await set(redacting('email', 'iban'));
    models.answers.splice(0, Infinity, { text: 'fine' });
    const asked = models.questions().length;
    const { runId } = await runOf(
      [agent({ prompt: 'Answer {mail}', system_prompt: 'Pay to DE89370400440532013000' })],
      [],
      { mail: 'jane@example.com' },
    );
    const run = await engine.until(runId, ['success']);
    expect(run.steps[0]?.input).toMatchObject({
      prompt: 'Answer [REDACTED:email]',
      system_prompt: 'Pay to [REDACTED:iban]',
    });
    const questions = JSON.stringify(models.questions().slice(asked));
    expect(questions).toContain('Answer [REDACTED:email]');
    expect(questions).toContain('Pay to [REDACTED:iban]');
    expect(questions).not.toMatch(/jane|DE89/);
    expect((await events(runId)).map((event) => event.evidence)).toEqual([{ email: 1, iban: 1 }]);
  });

  test('without a prompt sends the state redacted', async () => {
    await set(redacting('email'));
    models.answers.splice(0, Infinity, { text: 'fine' });
    const asked = models.questions().length;
    const { runId } = await runOf([agent({})], [], { mail: 'jane@example.com' });
    await engine.until(runId, ['success']);
    const questions = JSON.stringify(models.questions().slice(asked));
    expect(questions).toContain('[REDACTED:email]');
    expect(questions).not.toContain('jane');
  });

  test('does not call a model off the list', async () => {
    await set({ model_allowlist: ['mock'] });
    const asked = models.questions().length;
    const { runId } = await runOf([agent({ prompt: 'Hi', fallback_models: ['mock'] })]);
    const run = await engine.until(runId, ['failed']);
    expect(run.steps[0]?.error).toBe(
      "Model 'openai/gpt-5' is not on the workspace's list of allowed models",
    );
    expect(models.questions()).toHaveLength(asked);
    expect(await events(runId)).toMatchObject([
      {
        type: 'policy_denied',
        policy: 'model_allowlist',
        decision: 'denied',
        evidence: { model: 'openai/gpt-5', provider: 'openai' },
      },
    ]);
  });

  test('skips a fallback off the list with one event, and calls the next', async () => {
    await set({ model_allowlist: ['openai/gpt-5', 'mock'] });
    models.answers.splice(0, Infinity, { status: 500, message: 'down' });
    const node = agent({
      prompt: 'Hi',
      fallback_models: ['openai/gpt-4o', 'mock'],
      mock: { output: 'from the mock', fail_times: 2 },
      retry: { max_attempts: 3, initial_interval_seconds: 0.05, backoff: 1 },
    });
    const { runId } = await runOf([node]);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ ask: 'from the mock' });
    expect(run.steps[0]).toMatchObject({ model: 'mock', attempt: 3 });
    expect(models.questions().filter((question) => question['model'] === 'gpt-4o')).toEqual([]);
    const verdict = {
      type: 'model_fallback_blocked',
      policy: 'fallback',
      decision: 'blocked',
      evidence: { model: 'openai/gpt-4o', provider: 'openai' },
    };
    expect(run.steps[0]?.policy).toMatchObject([verdict]);
    expect(await events(runId)).toMatchObject([{ ...verdict, node_id: 'ask', version: 1 }]);
  });

  test('skips a fallback without a free call, and calls the next', async () => {
    await set({ limits: [{ models: ['openai/gpt-4o'], per_minute: 1 }] });
    const node = (rest: object) =>
      agent({ prompt: 'Hi', fallback_models: ['openai/gpt-4o', 'openai/gpt-5-mini'], ...rest });
    const asked = async () => {
      models.answers.splice(0, Infinity, { status: 500, message: 'down' }, { text: 'up' });
      const { runId } = await runOf([node({})]);
      return (await engine.until(runId, ['success'])).steps[0]?.model;
    };
    expect(await asked()).toBe('openai/gpt-4o');
    expect(await asked()).toBe('openai/gpt-5-mini');
  });

  test('reports no event about fallbacks it does not need', async () => {
    await set({ model_allowlist: ['mock'] });
    const { runId } = await runOf([mock('a', {}, { fallback_models: ['openai/gpt-4o'] })]);
    await engine.until(runId, ['success']);
    expect(await events(runId)).toEqual([]);
  });
});

describe('a changed policy', () => {
  test('applies to the next step of an active run', async () => {
    const workflowId = await engine.define(
      chain(
        tools.node('before'),
        { id: 'gate', kind: 'human_gate', prompt: 'Go on?' },
        tools.node('after'),
      ),
    );
    for (let round = 0; round < 5; round += 1) {
      await set({});
      const runId = await engine.trigger(workflowId);
      await engine.until(runId, ['paused']);
      await set({ tools: [{ tool: 'http_request', allowed_workflow_ids: [] }] });
      await engine.approve(runId);
      const failed = await engine.until(runId, ['failed']);
      expect(failed.failure).toEqual({ kind: 'node', node_id: 'after' });
      expect(tools.calls('after')).toHaveLength(round);
      await set({ tools: [{ tool: 'http_request', allowed_workflow_ids: [workflowId] }] });
      await engine.resume(runId);
      const run = await engine.until(runId, ['success']);
      // The current step was allowed; the refusal before the resume stays in the events.
      expect(run.steps.at(-1)?.policy).toEqual([]);
      expect(await events(runId)).toHaveLength(1);
    }
  });

  test('that refuses a step again after a resume adds an event', async () => {
    await set({ tools: [{ tool: 'http_request', allowed_workflow_ids: [] }] });
    const { runId } = await runOf([tools.node('twice')]);
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await eventually(async () => (await events(runId)).length === 2, 20_000);
    expect((await engine.until(runId, ['failed'])).steps[0]?.attempt).toBe(2);
    expect(tools.calls('twice')).toEqual([]);
  });
});

describe('the start of a step', () => {
  const verdict = {
    type: 'data_redacted' as const,
    policy: 'dlp' as const,
    decision: 'redacted' as const,
    reason: 'one',
    evidence: { email: 1 },
  };

  test('is refused under outdated policies, and writes nothing', async () => {
    const { runId } = await runOf([{ id: 'gate', kind: 'human_gate', prompt: 'Wait' }]);
    await engine.until(runId, ['paused']);
    const frames = await engine.frames(runId);
    expect(await begin(runId, 'one', -1)).toEqual({ outcome: 'stale' });
    expect((await engine.run(runId)).status).toBe('paused');
    expect(await engine.frames(runId)).toEqual(frames);
    expect(await events(runId)).toEqual([]);
  });

  test('by concurrent attempts records each verdict once', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const { runId } = await runOf([{ id: 'gate', kind: 'human_gate', prompt: 'Wait' }]);
      const { revision } = await readPolicies(engine.db, engine.actor.workspaceId);
      const claims = ['1', '2', '3', '4', '5'];
      const outcomes = await Promise.all(claims.map((claim) => begin(runId, claim, revision)));
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(claims.map(() => 'begun'));
      expect(await events(runId)).toHaveLength(1);
      const step = (await engine.run(runId)).steps.find(({ step_key: key }) => key === 'extra');
      expect(step?.policy).toEqual([verdict]);
    }
  });

  const begin = (runId: string, claim: string, revision: number) =>
    beginStep(engine.db, {
      pendingWrites: { run_id: runId, control: [], observed: [] },
      execution: 'e1',
      claim,
      claimMs: 5_000,
      stepKey: 'extra',
      nodeId: 'extra',
      label: 'extra',
      kind: 'tool',
      iteration: [],
      outputKey: 'extra',
      input: {},
      queuedAt: new Date(),
      judged: { workspaceId: engine.actor.workspaceId, revision, verdicts: [verdict] },
    });
});
