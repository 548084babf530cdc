import { type GraphInput, graphSchema } from '#shared/contract/workflows/graph.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { gatesConsequences } from '#shared/graph/consequences/gate-consequences.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import { createScheduler } from '#shared/graph/schedule/scheduler.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';

const samples = 50;
const warmUp = 20;

/** A gate before a chain of requests. Every fifth step is a condition or a transform, which the next one reads. */
function chain(size: number): GraphInput {
  const ids = Array.from({ length: size - 1 }, (_, at) => `n${at}`);
  const request = (id: string, at: number) => ({
    ...{ id, kind: 'tool' as const, tool_name: 'http_request' },
    params: {
      ...{ url: 'https://bank.test/', method: 'POST' },
      body: { to: '{who}', amount: at % 10 === 5 ? `{n${at - 1}}` : '{amount}' },
    },
  });
  const nodes = ids.map((id, at) => {
    if (at % 10 === 9) return { id, kind: 'condition' as const, expression: 'amount > 3' };
    const params = { expression: 'amount * 2' };
    return at % 10 === 4
      ? { id, kind: 'tool' as const, tool_name: 'json_transform', params }
      : request(id, at);
  });
  const gate = { id: 'review', kind: 'human_gate' as const, prompt: 'Pay {amount}?' };
  const all = ['review', ...ids];
  return {
    nodes: [gate, ...nodes],
    edges: ids.map((target, at) => {
      const branches = at === 0 || at % 10 === 0;
      return {
        ...{ source: all[at]!, target },
        ...(branches ? { condition_value: 'true' as const } : {}),
      };
    }),
  };
}

function timesFor(size: number): number[] {
  const judge = { policies: compilePolicies(unrestricted), judgeStep };
  const graph = graphSchema.parse(chain(size));
  const compiled = compileGraph(graph);
  const scheduler = createScheduler(compiled, { who: 'Ada', amount: 5 });
  scheduler.takeReady(Infinity);
  const keys = new Set(compiled.nodes.flatMap(keysReadBy));
  const situation = scheduler.situation(['review'], keys);
  const facts = {
    ...{ workflowId: 'wf_bench', graph, input: undefined, capMicros: null },
    ...{ policies: '', prices: {}, customTools: {}, called: {} },
  };
  const gates = [{ step_key: 'review' }];
  const times: number[] = [];
  for (let n = -warmUp; n < samples; n += 1) {
    const began = performance.now();
    const found = gatesConsequences({ gates, situation, facts }, judge, jsonDigest);
    if (n >= 0) times.push(performance.now() - began);
    if (found?.[0]?.consequences.approve.effects.length === 0) throw new Error('nothing follows');
  }
  return times;
}

/** What the answers to a gate set in motion, for an ordinary graph and the largest one. In this process, no servers. */
export async function consequences(): Promise<Result[]> {
  return [
    { size: 100, most: 20 },
    { size: 1_000, most: 100 },
  ].map(({ size, most }) => {
    const ours = figure(timesFor(size));
    return compare({
      measure: `what a gate before ${size} nodes sets in motion, p95`,
      unit: 'ms',
      ours,
      value: ours.p95!,
      bound: atMost(most),
    });
  });
}
