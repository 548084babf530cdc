import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { saveDraft } from '#shared/db/workflows/drafts.ts';
import { findPin, listPins, removePin, savePin } from '#shared/db/workflows/pins.ts';
import { pinOutput } from '#shared/operations/workflows/pin-output.ts';
import { testNode, type NodeTestRequest } from '#shared/operations/workflows/node-tests.ts';
import { AppError } from '#shared/errors.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, mock, useEngine } from '#test/support/engine.ts';
import { raceRounds, soakTest } from '#test/support/soak.ts';

const engine = useEngine();
const tools = useToolServer();

/** The code and the text of a refusal. */
function refusalText(error: unknown): string {
  if (error instanceof AppError) return `${error.code}: ${error.message}`;
  throw error;
}

async function source(graph: GraphInput, input: JsonObject = {}) {
  const workflowId = await engine.define(graph);
  const run = await engine.ended(await engine.trigger(workflowId, input));
  return { workflowId, run };
}

async function tested(workflowId: string, nodeId: string, rest: Partial<NodeTestRequest>) {
  const { actor } = engine;
  const request = { actor, workflowId, nodeId, trigger: 'manual', ...rest } as const;
  return engine.ended((await testNode(engine.deps, request)).runId);
}

const draft = (workflowId: string, graph: GraphInput) =>
  saveDraft(engine.db, engine.actor, workflowId, {
    input: { graph: graph as never },
    ifMatch: undefined,
  });

describe('a test of a node', () => {
  test('executes only the node of the draft, with the state of the run', async () => {
    const { workflowId, run } = await source(
      chain(
        mock('read', { output: 'About {letter}', cost_usd: 0.5 }),
        echo('answer', 'read + 1 / 0'),
      ),
      { letter: 'tea' },
    );
    expect(run.status).toBe('failed');
    const read = mock('read', { output: 'About {letter}', cost_usd: 0.5 });
    await draft(workflowId, chain(read, echo('answer', "read + '!'"), echo('after')));
    const found = await tested(workflowId, 'answer', { runId: run.id, draft: true });
    expect(found).toMatchObject({
      ...{ status: 'success', mode: 'recorded', forked_from: run.id, forked_from_step: 'answer' },
      ...{ cost_usd: 0, input: { letter: 'tea', read: 'About tea' } },
    });
    expect(found.steps.map(({ step_key, output }) => [step_key, output])).toEqual([
      ['answer', 'About tea!'],
    ]);
  });

  test('with an idempotency key starts one run for each node and request', async () => {
    const { workflowId, run } = await source(chain(echo('a', '1'), echo('b', 'a + 1')));
    const keyed = { idempotencyKey: 'k' };
    for (const from of [{ runId: run.id }, { state: { a: 1 } }]) {
      const first = await tested(workflowId, 'b', { ...from, ...keyed });
      expect((await tested(workflowId, 'b', { ...from, ...keyed })).id).toBe(first.id);
      expect((await tested(workflowId, 'b', from)).id).not.toBe(first.id);
      expect((await tested(workflowId, 'a', { ...from, ...keyed })).id).not.toBe(first.id);
      const other = tested(workflowId, 'b', { ...from, state: { a: 2 }, ...keyed });
      expect(await other.catch(refusalText)).toContain('idempotency_mismatch: ');
    }
    const started = await engine.ended(await engine.trigger(workflowId, {}, 'k'));
    expect(started.mode).toBeNull();
  });

  test('calls a model or a tool only if that is allowed', async () => {
    const { workflowId, run } = await source(
      chain(mock('read', { output: 'x', cost_usd: 0.25 }), tools.node('send')),
    );
    const refused = await tested(workflowId, 'read', { runId: run.id });
    expect(refused).toMatchObject({
      status: 'failed',
      failure: { kind: 'unrecorded' },
      error: "Step 'read' has no record with this input: allow 'agent' to execute it",
    });
    const asked = await tested(workflowId, 'read', { runId: run.id, allow: ['agent'] });
    expect(asked).toMatchObject({ status: 'success', cost_usd: 0.25, output: { read: 'x' } });
    const unsent = await tested(workflowId, 'send', { runId: run.id, allow: ['agent'] });
    expect(unsent.steps[0]?.status).toBe('unrecorded');
    expect(tools.calls('send')).toHaveLength(1);
  });

  test('fails with the error of a template that cannot be rendered with the given state', async () => {
    const graph = chain(mock('read', { output: 'x' }, { prompt: 'About {letter.title}' }));
    const { workflowId } = await source(graph, { letter: { title: 'Tea' } });
    const given = { state: { letter: 1 }, allow: ['agent'] };
    const failed = await tested(workflowId, 'read', given);
    expect(failed).toMatchObject({ status: 'failed', forked_from: null });
    expect(failed.error).toContain('letter.title');
  });

  soakTest('evaluates conditions, loops and maps in the iteration of the step', async () => {
    const { workflowId, run } = await source(
      {
        nodes: [
          { id: 'each', kind: 'map', items: 'orders' },
          echo('price', 'each.item * 2'),
          { id: 'many', kind: 'condition', expression: 'len(each) > 1' },
        ] as never,
        edges: [edge('each', 'price', 'true'), edge('price', 'each'), edge('each', 'many')],
      },
      { orders: [3, 5] },
    );
    const result = async (nodeId: string, rest: Partial<NodeTestRequest> = {}) =>
      (await tested(workflowId, nodeId, { runId: run.id, ...rest })).steps[0]?.output;
    expect(await result('many')).toBe(true);
    expect(await result('each')).toEqual([3, 5]);
    expect(await result('price', { stepKey: 'price#1' })).toBe(6);
    expect(await result('price', { stepKey: 'price#2' })).toBe(10);
    expect(
      await result('price', { stepKey: 'price#2', state: { each: { item: 7, index: 0 } } }),
    ).toBe(14);
  });

  test('uses pinned outputs of other nodes, even of nodes that the run did not have', async () => {
    const read = mock('read', { output: 'About {letter}' });
    const { workflowId, run } = await source(chain(read, echo('say', 'read')), { letter: 'tea' });
    const other = await engine.ended(await engine.trigger(workflowId, { letter: 'oil' }));
    await savePin(engine.db, engine.actor, workflowId, { runId: other.id, nodeId: 'read' });
    await draft(workflowId, chain(read, echo('more', "read + '?'"), echo('say', 'more')));
    const place = { runId: run.id, draft: true };
    const unpinned = await tested(workflowId, 'more', place);
    expect(unpinned.output).toEqual({ more: 'About tea?' });
    const more = await tested(workflowId, 'more', { ...place, pins: true });
    expect(more.output).toEqual({ more: 'About oil?' });

    const say = { ...place, pins: true };
    await expect(tested(workflowId, 'say', say)).rejects.toThrow(
      /No state for step 'say' in run .*pin the outputs/,
    );
    await savePin(engine.db, engine.actor, workflowId, { runId: more.id, nodeId: 'more' });
    expect((await tested(workflowId, 'say', say)).output).toEqual({ say: 'About oil?' });
  });
});

describe('a pin with another output than that of its step', () => {
  const schema = { type: 'object', required: ['topic'], properties: { topic: { type: 'string' } } };

  test('is what tests of other nodes start with', async () => {
    const read = mock('read', { output: { topic: 'tea' } }, { response_schema: schema });
    const { workflowId, run } = await source(chain(read, echo('say', 'read.topic')));
    const place = { runId: run.id, nodeId: 'read' };
    const { db, actor } = engine;
    expect(await pinOutput(db, actor, workflowId, place, { topic: 'oil' })).toMatchObject({
      ...{ run_id: run.id, step_key: 'read', edited: true, bytes: 15 },
    });
    expect(await findPin(db, actor, workflowId, 'read')).toMatchObject([
      { edited: true, output: { topic: 'oil' } },
    ]);
    expect(await findPin(db, actor, workflowId, 'say')).toEqual([]);
    const found = await tested(workflowId, 'say', { runId: run.id, pins: true });
    expect(found.output).toEqual({ say: 'oil' });

    // Of the step again.
    expect(await pinOutput(db, actor, workflowId, place, undefined)).toMatchObject({
      edited: false,
    });
    const again = await tested(workflowId, 'say', { runId: run.id, pins: true });
    expect(again.output).toEqual({ say: 'tea' });
  });

  test('fits the response schema in the draft, or else in the current version, and its size', async () => {
    const read = mock('read', { output: { topic: 'tea' } }, { response_schema: schema });
    const { workflowId, run } = await source(chain(read, echo('say', 'read.topic')));
    const pin = (output: Json) =>
      pinOutput(
        engine.db,
        engine.actor,
        workflowId,
        { runId: run.id, nodeId: 'read' },
        output,
      ).then(({ edited }) => edited, refusalText);
    expect(await pin({ subject: 'tea' })).toMatch(
      /^unprocessable: The output does not fit the response_schema of node 'read': .*topic/,
    );
    expect(await pin({ topic: 'x'.repeat(262_144) })).toMatch(
      /^unprocessable: The given output has 262156 bytes of JSON; at most 262144 can be pinned/,
    );
    const free = mock('read', { output: 'tea' });
    await draft(workflowId, chain(free, echo('say', 'read')));
    expect(await pin(null)).toBe(true);
  });
});

describe('is refused', () => {
  test('for a step, node, run or allowance that makes no sense', async () => {
    const graph: GraphInput = {
      nodes: [
        echo('one'),
        { id: 'join', kind: 'merge' },
        { id: 'no', kind: 'condition', expression: 'false' },
        { id: 'ok', kind: 'human_gate' },
        echo('never'),
      ] as never,
      edges: [
        edge('one', 'join'),
        edge('join', 'no'),
        edge('no', 'ok', 'true'),
        edge('ok', 'never', 'true'),
      ],
    };
    const { workflowId, run } = await source(graph);
    const elsewhere = await source(graph);
    const refusal = async (nodeId: string, rest: Partial<NodeTestRequest> = {}) =>
      tested(workflowId, nodeId, { runId: run.id, ...rest }).then(() => 'none', refusalText);
    const refusals = [
      await refusal('two'),
      await refusal('one', { stepKey: 'one#7' }),
      await refusal('one', { stepKey: 'join' }),
      await refusal('never'),
      await refusal('ok'),
      await refusal('join'),
      await refusal('one', { runId: elsewhere.run.id }),
      await refusal('one', { runId: 'run_00000000000000000000000000' }),
      await refusal('one', { draft: true }),
      await refusal('one', { version: 7 }),
      await refusal('one', { allow: ['custom:none'] }),
    ];
    const head = ` of the node 'one': name one of GET /api/runs/${run.id}`;
    expect(refusals).toEqual([
      "unprocessable: The graph has no node 'two': name one that it has",
      `unprocessable: Run ${run.id} has executed no step 'one#7'${head}`,
      `unprocessable: Run ${run.id} has executed no step 'join'${head}`,
      expect.stringContaining(`unprocessable: No state for step 'never' in run ${run.id}: `),
      expect.stringContaining("unprocessable: Node 'ok' waits for a decision"),
      expect.stringContaining("unprocessable: Node 'join' only joins branches"),
      'not_found: Run not found',
      'not_found: Run not found',
      'not_found: Draft not found',
      'unprocessable: The workflow has no version 7',
      expect.stringContaining("unprocessable: 'custom:none' cannot be allowed"),
    ]);
  });

  soakTest('a pin without output, of another workflow, or beyond the limits', async () => {
    const failing = mock('read', { fail_times: 99 }, { retry: { max_attempts: 1 } });
    const big = mock('big', { output: 'x'.repeat(262_143) });
    const { workflowId, run } = await source(chain(big, failing));
    const pin = async (nodeId: string, runId = run.id, stepKey?: string) =>
      savePin(engine.db, engine.actor, workflowId, { runId, nodeId, stepKey }).then(
        () => 'none',
        refusalText,
      );
    expect(await pin('read')).toMatch(/^unprocessable: Step 'read' has no output: pin a finished/);
    expect(await pin('big', undefined, 'big#1')).toMatch(
      /^unprocessable: Run .* has executed no step/,
    );
    expect(await pin('big')).toBe(
      "unprocessable: The output of step 'big' has 262145 bytes of JSON; at most 262144 can be pinned",
    );
    const elsewhere = await source(chain(echo('big')));
    expect(await pin('big', elsewhere.run.id)).toBe('not_found: Run not found');
  });

  soakTest('a pin too many, also when two arrive at once', async () => {
    const nodes = Array.from({ length: 103 }, (_, at) => echo(`n${at}`));
    const { workflowId, run } = await source({ nodes: nodes as never, edges: [] });
    const pin = async (at: number) =>
      savePin(engine.db, engine.actor, workflowId, { runId: run.id, nodeId: `n${at}` });
    for (let at = 0; at < 99; at += 1) await pin(at);
    for (let round = 0; round < raceRounds(10); round += 1) {
      const raced = await Promise.allSettled([pin(99), pin(100), pin(101), pin(102)]);
      expect(raced.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const pins = await listPins(engine.db, engine.actor, workflowId);
      expect(pins).toHaveLength(100);
      await pin(0);
      await removePin(
        engine.db,
        engine.actor,
        workflowId,
        pins.map(({ node_id: id }) => id).filter((id) => /^n(99|10\d)$/.test(id))[0]!,
      );
    }
  });
});
