import { describe, expect, test } from '@jest/globals';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { forkRun, rerunRun, type RerunRequest } from '#shared/operations/forks/forks.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { chain, echo, edge, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const code = (source: string, rest: object = {}, id = 'c') => ({
  id,
  kind: 'code',
  source,
  ...rest,
});

describe('a code node', () => {
  test('computes its output from the state, and what follows sees it', async () => {
    const source =
      'export default ({ items }) => {\n  console.log("items", items.length);\n  return items.map((n) => n * 2);\n};';
    const runId = await engine.start(
      chain(code(source, { output_key: 'doubled' }), echo('b', 'doubled')),
      {
        items: [1, 2],
      },
    );
    const run = await engine.until(runId, ['success']);
    expect(run.state).toMatchObject({ doubled: [2, 4] });
    expect(run.output).toEqual({ b: [2, 4] });
    expect(run.steps[0]).toMatchObject({
      kind: 'code',
      status: 'success',
      log: 'items 2\n',
      cost_usd: 0,
    });
  });

  test('fails with the line of its source, which an error edge catches, and keeps its log', async () => {
    const typed =
      'type A = { n: number };\nexport default (state: A) => {\n  console.log("\\0before");\n  throw new Error("No rows");\n};';
    const graph = {
      nodes: [
        code(typed, { language: 'typescript', retry: { max_attempts: 3 } }),
        echo('caught', 'c.error.message'),
      ],
      edges: [edge('c', 'caught', 'error')],
    };
    const run = await engine.until(await engine.start(graph as never, { n: 1 }), ['success']);
    expect(run.output).toEqual({ caught: 'No rows (line 4, column 18)' });
    // The same code with the same state fails again.
    expect(run.steps[0]).toMatchObject({
      attempt: 1,
      caught: true,
      log: expect.stringContaining('before'),
    });
  });

  test('that uses up its processor time is stopped, as a timeout that is retried', async () => {
    const endless = code('export default () => { for (;;); };', {
      ...{ timeout_seconds: 0.1, retry: { max_attempts: 2, initial_interval_seconds: 0.01 } },
    });
    const run = await engine.until(await engine.start(chain(endless)), ['failed'], 60_000);
    expect(run.error).toContain('It used more than 0.1 s of processor time');
    expect(run.steps[0]).toMatchObject({ attempt: 2, error_kind: 'timeout' });
  }, 90_000);

  test('gives the same in a rerun: its clock and its random numbers are those of the first execution', async () => {
    const source = (more: string) =>
      `export default (state) => ({ now: Date.now(), random: Math.random(), topic: state.topic${more} });`;
    const runId = await engine.start(chain(code(source(''))), { topic: 'tea' });
    const first = (await engine.until(runId, ['success'])).output as { c: object };
    const rerun = async (rest: Partial<RerunRequest>) => {
      const asked = { actor: engine.actor, runId, trigger: 'manual' as const, ...rest };
      const { runId: id } = await rerunRun(engine.deps, asked);
      return (await engine.until(id, ['success'])).output as { c: object };
    };
    // Its input has changed, so the rehearsal executes it.
    expect(await rerun({ input: { topic: 'oil' } })).toEqual({ c: { ...first.c, topic: 'oil' } });
    expect(first.c).toMatchObject({ now: expect.any(Number), random: expect.any(Number) });
  });

  test('is kept by a fork after it, and begins again at the same time in a fork from it', async () => {
    const source = 'export default ({ n }) => [n, Date.now(), Math.random()];';
    const runId = await engine.start(chain(code(source), echo('last', 'c')), { n: 1 });
    const first = (await engine.until(runId, ['success'])).output as {
      last: [number, ...number[]];
    };
    const fork = async (fromStep: string, n: number) => {
      const asked = { actor: engine.actor, runId, trigger: 'manual' as const };
      const { runId: id } = await forkRun(engine.deps, { ...asked, fromStep, state: { n } });
      return engine.until(id, ['success']);
    };
    const after = await fork('last', 2);
    expect(after).toMatchObject({ output: first, steps: [{ reused_from: runId }, {}] });
    const [, ...surroundings] = first.last;
    expect((await fork('c', 2)).output).toEqual({ last: [2, ...surroundings] });
  });

  test('runs in each iteration of a loop and each item of a map, with random numbers of its own', async () => {
    const graph = {
      nodes: [
        { id: 'each', kind: 'map', items: '[1, 2, 3]' },
        code('export default ({ each }) => [each.item, Math.random()];'),
      ],
      edges: [edge('each', 'c', 'true'), { source: 'c', target: 'each' }],
    };
    const run = await engine.until(await engine.start(graph as never), ['success']);
    const found = (run.state as { each: [number, number][] }).each;
    expect(found.map(([item]) => item)).toEqual([1, 2, 3]);
    expect(new Set(found.map(([, random]) => random)).size).toBe(3);
  });

  test('is refused where a policy does not allow code in its workflow', async () => {
    const policy = (tools: object[]) =>
      replacePolicies(engine.db, engine.actor, { ...unrestricted, tools } as never);
    await policy([{ tool: 'code', allowed_workflow_ids: [] }]);
    const runId = await engine.start(chain(code('export default () => 1;')));
    const run = await engine.until(runId, ['failed']);
    await policy([]);
    expect(run.steps[0]).toMatchObject({
      error: "Tool 'code' is not allowed in this workflow",
      error_kind: 'policy',
    });
  });
});
