import { type GraphInput, graphSchema } from '#shared/contract/workflows/graph.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { dryRun as analyse } from '#shared/graph/dry-run/plan.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';

const size = 1_000;
const samples = 50;
const warmUp = 20;

/** A chain of agents. Each reads the one before; every tenth step is a condition on the input. */
function chain(): GraphInput {
  const ids = Array.from({ length: size }, (_, at) => `n${at}`);
  return {
    nodes: ids.map((id, at) =>
      at % 10 === 9
        ? { id, kind: 'condition', expression: 'limit > 3' }
        : {
            ...{ id, kind: 'agent', mock: { output: 'x', cost_usd: 0.01 } },
            prompt: at % 10 === 0 ? '{topic}' : `About {n${at - 1}} and {topic}`,
          },
    ),
    edges: ids.slice(1).map((target, at) => ({
      ...{ source: ids[at]!, target },
      ...(at % 10 === 9 ? { condition_value: 'true' as const } : {}),
    })),
  };
}

/** The analysis of the largest graph. In this process, no servers. */
export async function dryRun(): Promise<Result[]> {
  const judge = { policies: compilePolicies(unrestricted), judgeStep };
  const graph = graphSchema.parse(chain());
  const times: number[] = [];
  for (let n = -warmUp; n < samples; n += 1) {
    const began = performance.now();
    analyse(
      {
        ...{ workflowId: 'wf_bench', graph, input: { topic: 'tea', limit: 5 }, capMicros: null },
        ...{ policies: '', prices: {}, customTools: {}, called: {} },
      },
      judge,
    );
    if (n >= 0) times.push(performance.now() - began);
  }
  return [
    compare({
      measure: `dry run of a graph of ${size} nodes`,
      unit: 'ms',
      ours: figure(times),
      bound: { ...atMost(50), aim: 25 },
    }),
  ];
}
