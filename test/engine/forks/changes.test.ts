import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sql } from '#shared/db/pool.ts';
import { readDraft, saveDraft } from '#shared/db/workflows/drafts.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import type { JsonObject } from '#shared/json.ts';
import {
  type ForkRequest,
  forkRun,
  rerunRun,
  type RerunRequest,
} from '#shared/operations/forks/forks.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { oddResult, startOddMcpServer } from '#test/fakes/odd-mcp-server.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, mock, startEngine } from '#test/support/engine.ts';
import { type ModelAnswer, modelSettings, startModelServer } from '#test/support/model-server.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

const models = useStage(startModelServer);
const engine = useStage(() => startEngine({ env: modelSettings(models) }));
const tools = useStage(startToolServer);

const three = chain(
  mock('ask', { output: 'About {topic}' }),
  echo('sum', 'topic'),
  echo('last', "ask + '/' + sum"),
);
const request = (runId: string) => ({ actor: engine.actor, runId, trigger: 'manual' as const });
const save = (id: string, graph: GraphInput) =>
  updateWorkflow(engine.db, engine.actor, id, { graph: graph as never });

async function fork(runId: string, fromStep: string, rest: Partial<ForkRequest> = {}) {
  const { runId: id, notReused } = await forkRun(engine.deps, {
    ...request(runId),
    fromStep,
    ...rest,
  });
  return { run: await engine.ended(id), notReused };
}
async function rerun(runId: string, rest: Partial<RerunRequest> = {}) {
  return engine.ended((await rerunRun(engine.deps, { ...request(runId), ...rest })).runId);
}
async function source(graph: GraphInput = three, input: JsonObject = { topic: 'tea' }) {
  const id = await engine.define(graph);
  return { id, run: await engine.ended(await engine.trigger(id, input)) };
}
const keysOf = (run: Awaited<ReturnType<typeof engine.ended>>, wasReused: boolean) =>
  run.steps
    .filter((step) => (step.reused_from !== undefined) === wasReused)
    .map(({ step_key }) => step_key);

describe('a rerun', () => {
  test('has its input and version, unless others are given', async () => {
    const { id, run } = await source();
    await save(id, chain(echo('other', "topic + '!'")));
    const same = await rerun(run.id);
    expect(same).toMatchObject({
      ...{ forked_from: run.id, forked_from_step: null, workflow_version: 1, trigger: 'manual' },
      ...{ input: { topic: 'tea' }, output: { last: 'About tea/tea' } },
    });
    expect(keysOf(same, true)).toEqual([]);
    expect((await rerun(run.id, { input: { topic: 'oil' } })).output).toEqual({
      last: 'About oil/oil',
    });
    expect((await rerun(run.id, { version: 2 })).output).toEqual({ other: 'tea!' });
    await expect(rerun(run.id, { version: 3 })).rejects.toMatchObject({
      ...{ code: 'unprocessable', message: 'The workflow has no version 3' },
    });
  });

  test('of a draft can itself be run again and forked without it', async () => {
    const { id, run } = await source();
    await expect(rerun(run.id, { draft: true })).rejects.toMatchObject({ code: 'not_found' });
    const drawn = chain(
      mock('ask', { output: 'About {topic}' }),
      echo('sum', "topic + '?'"),
      echo('end', 'ask + sum'),
    );
    await saveDraft(engine.db, engine.actor, id, {
      input: { graph: drawn as never },
      ifMatch: undefined,
    });
    const first = await fork(run.id, 'sum', { draft: true });
    expect(first.run).toMatchObject({
      of_draft: true,
      workflow_version: 1,
      output: { end: 'About teatea?' },
    });
    expect(first.run.graph?.nodes).toHaveLength(3);
    expect(first.notReused).toEqual([]);
    expect(keysOf(first.run, true)).toEqual(['ask']);
    const draft = await readDraft(engine.db, {
      workspaceId: engine.actor.workspaceId,
      workflowId: id,
    });
    await saveDraft(engine.db, engine.actor, id, {
      input: { graph: chain(echo('end', '1')) as never },
      ifMatch: [draft.etag],
    });
    const again = await rerun(first.run.id);
    expect(again).toMatchObject({ of_draft: true, output: { end: 'About teatea?' } });
    expect((await fork(first.run.id, 'end')).run).toMatchObject({
      of_draft: true,
      output: { end: 'About teatea?' },
    });
  });
});

describe('a fork with changes', () => {
  test('of the input reuses the steps that do not read it, and lists the others', async () => {
    const { run } = await source({
      nodes: [
        echo('fixed', "'f'"),
        echo('reads', 'topic'),
        echo('follows', 'reads'),
        echo('last', 'fixed + follows'),
      ],
      edges: [edge('reads', 'follows'), edge('follows', 'last'), edge('fixed', 'last')],
    });
    const { run: forked, notReused } = await fork(run.id, 'last', { input: { topic: 'oil' } });
    expect(forked.output).toEqual({ last: 'foil' });
    expect(keysOf(forked, true)).toEqual(['fixed']);
    expect(notReused).toEqual([
      { step_key: 'reads', node_id: 'reads', reason: 'its input has changed' },
      {
        step_key: 'follows',
        node_id: 'follows',
        reason: 'it is not reached without a step that is executed again',
      },
    ]);
  });

  test('of the graph reuses nodes that do the same under another label', async () => {
    const { id, run } = await source();
    await save(
      id,
      chain(
        {
          ...(mock('ask', { output: 'About {topic}' }) as object),
          label: 'Ask',
          retry: { max_attempts: 3 },
        } as never,
        echo('sum', "topic + ' '"),
        echo('last', "ask + '/' + sum"),
      ),
    );
    const { run: forked, notReused } = await fork(run.id, 'last', { version: 2 });
    expect(forked).toMatchObject({ workflow_version: 2, output: { last: 'About tea/tea ' } });
    expect(keysOf(forked, true)).toEqual(['ask']);
    expect(notReused).toEqual([
      { step_key: 'sum', node_id: 'sum', reason: 'its input has changed' },
    ]);
  });
});

describe('a fork that is not possible', () => {
  const refusal = (promise: Promise<unknown>, message: RegExp, code = 'unprocessable') =>
    expect(promise).rejects.toMatchObject({ code, message: expect.stringMatching(message) });

  test('is refused with the reason and a remedy', async () => {
    const { id, run } = await source({
      nodes: [
        { id: 'pick', kind: 'condition', expression: "topic == 'tea'" },
        echo('yes'),
        echo('no'),
        mock('end', { output: '{yes}' }),
      ],
      edges: [edge('pick', 'yes', 'true'), edge('pick', 'no', 'false'), edge('yes', 'end')],
    });
    await refusal(
      fork(run.id, 'gone'),
      /^No fork from step 'gone': the run has no such step; name a step/,
    );
    await refusal(fork(run.id, 'no'), /the run skipped this step/);
    await refusal(
      fork(run.id, 'yes', { input: { topic: 'oil' } }),
      /does not reach it with this graph and input: fork from an earlier/,
    );
    await refusal(
      fork(run.id, 'end', { state: { yes: { deep: 1 } }, version: 2 }),
      /The workflow has no version 2/,
    );
    await save(id, chain(echo('pick')));
    await refusal(
      fork(run.id, 'end', { version: 2 }),
      /the graph has no node 'end' any more; fork from a step that it has/,
    );
    await save(id, chain(echo('pick', 'nonsense(')));
    await refusal(fork(run.id, 'pick', { version: 3 }), /Workflow graph invalid/, 'graph_invalid');
    await refusal(fork('run_none', 'yes'), /Run not found/, 'not_found');
    await refusal(
      fork(run.id, 'yes', { actor: { ...engine.actor, workspaceId: 'ws_other' } }),
      /Run not found/,
      'not_found',
    );
  });

  test('is refused because its state does not fit the templates of the step', async () => {
    const { run } = await source(chain(echo('a', 'who'), mock('call', { output: '{a.name}' })), {
      who: { name: 'Ada' },
    });
    await refusal(
      fork(run.id, 'call', { state: { a: 3 } }),
      /its templates do not fit the state: Missing key 'a.name'/,
    );
  });

  soakTest('because the other run was deleted meanwhile, and then nothing is written', async () => {
    const { run } = await source();
    let reads = 0;
    const deps: RunDeps = {
      ...engine.deps,
      findRunnable: async (...args) => {
        reads += 1;
        // The second is that of the admission.
        if (reads === 2) {
          await engine.db.query(sql.unsafe`DELETE FROM runs WHERE id = ${run.id}`);
        }
        return engine.deps.findRunnable(...args);
      },
    };
    const before = await counted(run.id);
    await refusal(
      forkRun(deps, { ...request(run.id), fromStep: 'last', version: 1 }),
      /was deleted, or its steps have changed/,
      'conflict',
    );
    expect(await counted(run.id)).toEqual(before);
  });
});

const counted = (except: string) =>
  engine.db.one(sql.type(z.object({ count: z.number() }))`
    SELECT (SELECT count(*) FROM runs WHERE id <> ${except}) + (SELECT count(*) FROM audit_log) +
           (SELECT sum(runs) FROM run_counters) AS count`);

soakTest('a fork that fails is resumed, and its execution lost', async () => {
  tools.answer('down', { status: 500 });
  const { run } = await source(chain(tools.node('up'), tools.node('down'), echo('last', 'note')), {
    note: 'a',
  });
  const forked = (await fork(run.id, 'down', { state: { note: 'b' } })).run;
  expect(forked.status).toBe('failed');
  tools.answer('down', { status: 200 });
  // As after an execution whose history was lost.
  await engine.db.query(sql.unsafe`UPDATE runs SET from_ledger = true WHERE id = ${forked.id}`);
  await (
    await engine.resume(forked.id)
  ).dispatched;
  const resumed = await engine.ended(forked.id);
  expect(resumed).toMatchObject({ status: 'success', output: { last: 'b' }, state: { note: 'b' } });
  expect(keysOf(resumed, true)).toEqual(['up']);
  expect(tools.calls('up')).toHaveLength(1);
});

soakTest('requests with one key start one run, however many come at once', async () => {
  const { run } = await source();
  for (let round = 0; round < 5; round += 1) {
    const idempotencyKey = `key-${round}`;
    const forks = await Promise.all(
      Array.from({ length: 8 }, () =>
        forkRun(engine.deps, { ...request(run.id), fromStep: 'sum', idempotencyKey }),
      ),
    );
    expect(new Set(forks.map(({ runId }) => runId)).size).toBe(1);
    expect(forks.filter(({ admitted }) => admitted !== undefined)).toHaveLength(1);
    await engine.ended(forks[0]!.runId);
    await expect(fork(run.id, 'last', { idempotencyKey })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  }
});

soakDescribe('an output that is older than the limits and exceeds them', () => {
  const store = (runId: string, stepKey: string, output: string) =>
    engine.db.query(sql.unsafe`
      UPDATE steps SET output = ${output}::json WHERE run_id = ${runId} AND step_key = ${stepKey}`);
  const oversized = [
    ['nested deeper than 200 levels', '['.repeat(1_000) + ']'.repeat(1_000)],
    ['more than 250000 values', `[${Array(300_000).fill('[]').join(',')}]`],
  ] as const;

  test.each(oversized)('is not reused: %s', async (problem, output) => {
    const { run } = await source();
    await store(run.id, 'ask', output);
    await expect(fork(run.id, 'last')).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringContaining(
        `the output of step 'ask' is too large to be reused: ${problem}`,
      ),
    });
    await expect(rerun(run.id, { mode: 'recorded' })).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringContaining(problem),
    });
    // What comes before it is.
    expect((await fork(run.id, 'ask')).run.status).toBe('success');
  });

  test.each(oversized)('ends a run that continues from its ledger: %s', async (problem, output) => {
    const id = await engine.define(chain(echo('ask', 'topic'), tools.node('fails')));
    tools.answer('fails', { status: 500 });
    const run = await engine.ended(await engine.trigger(id, { topic: 'tea' }));
    expect(run.status).toBe('failed');
    tools.answer('fails', {});
    await store(run.id, 'ask', output);
    await engine.db.query(sql.unsafe`
      UPDATE runs SET from_ledger = true WHERE id = ${run.id}`);
    await engine.resume(run.id);
    const resumed = await engine.ended(run.id);
    expect(resumed.status).toBe('failed');
    expect(resumed.error).toContain(
      `The output of step 'ask' is too large to continue: ${problem}`,
    );
  });
});

describe('an answer nested 10,000 levels deep', () => {
  const deep = `${'{"a":'.repeat(9_999)}[]${'}'.repeat(9_999)}`;
  let server: FakeServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const tool = (tool_name: string, params: object) => ({ kind: 'tool', tool_name, params });
  const ofService = async () => {
    const service = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(deep);
    });
    server = service;
    return { node: tool('http_request', { url: service.url }), asked: () => service.seen.length };
  };
  const ofMcp = (stream: boolean) => async () => {
    const odd = await startOddMcpServer({ stream, call: oddResult(deep) });
    server = odd;
    const asked = () => odd.methods().filter((method) => method === 'tools/call').length;
    return { node: tool('mcp', { server_url: odd.url, tool: 'x' }), asked };
  };
  const ofModel = (said: ModelAnswer, rest: object) => async () => {
    models.answers.splice(0, Infinity, said);
    const node = { kind: 'agent', model: 'openai/gpt-4o', prompt: 'Which?', ...rest };
    return { node, asked: () => models.seen.length };
  };
  const asJson = { response_schema: { type: 'object' } };
  const withTools = { tools: ['json_transform'] };

  test.each<[string, () => Promise<{ node: object; asked: () => number }>]>([
    ['of a service', ofService],
    ['of an MCP server', ofMcp(false)],
    ['of an MCP server, as a stream', ofMcp(true)],
    ['of a model', ofModel({ text: deep }, asJson)],
    ['of a model, in a fence', ofModel({ text: `It is\n\`\`\`json\n${deep}\n\`\`\`` }, asJson)],
    [
      'as the arguments of a call',
      ofModel({ calls: [{ name: 'json_transform', arguments: deep }] }, withTools),
    ],
  ])('%s fails its step once, ends the run, and does not delay its forks', async (_of, begin) => {
    const { node, asked } = await begin();
    const before = asked();
    const { run } = await source(chain(echo('first', 'topic'), { id: 'deep', ...node }));
    const failed = {
      status: 'failed',
      error: expect.stringContaining('nested deeper than 100 levels of lists and objects'),
    };
    expect(run).toMatchObject(failed);
    expect(asked() - before).toBe(1);
    expect((await fork(run.id, 'deep')).run).toMatchObject(failed);
    expect((await fork(run.id, 'first')).run).toMatchObject(failed);
    expect(asked() - before).toBe(3);
    expect(await rerun(run.id, { mode: 'recorded' })).toMatchObject(failed);
    expect(asked() - before).toBe(3);
  });
});
