import type { Graph } from '#shared/contract/workflows/graph.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { gatesConsequences } from '#shared/graph/consequences/gate-consequences.ts';
import type { GateDecision } from '#shared/graph/gates/gate-decision.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import type { Scheduler } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';

/** The effects that an approval of the gate `review` sets in motion, in a run of this graph that waits there. */
export function approvedEffects(
  graph: Graph,
  scheduler: Scheduler,
  laid: Record<string, JsonObject> = {},
  decided: readonly GateDecision[] = [],
) {
  const situation = scheduler.situation(
    ['review', ...decided.map(({ step_key: key }) => key)],
    new Set(graph.nodes.flatMap(keysReadBy)),
  );
  const facts = {
    ...{ workflowId: 'wf', graph, input: undefined, capMicros: null },
    ...{ policies: '', prices: {}, customTools: {}, called: {} },
  };
  const judge = { policies: compilePolicies(unrestricted), judgeStep };
  const gates = [{ step_key: 'review' }];
  const found = gatesConsequences({ gates, situation, laid, decided, facts }, judge, jsonDigest);
  return found![0]!.consequences.approve.effects;
}
