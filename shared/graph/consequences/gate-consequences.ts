import type { Graph } from '#shared/contract/workflows/graph.ts';
import { compileGraph, type CompiledGraph, nodeLabel } from '#shared/graph/compile.ts';
import { factsFor } from '#shared/graph/dry-run/plan.ts';
import type { DryRunRequest } from '#shared/graph/dry-run/request.ts';
import type { Judge } from '#shared/graph/dry-run/verdicts.ts';
import { rejectionError, timeoutError } from '#shared/graph/gates/rejection.ts';
import { isComputed } from '#shared/graph/kinds.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import { createScheduler, nodeIdOf, type Situation } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Answer, type Asked, type Consequences, consequencesOf } from './consequences.ts';

/** An open gate of a run. */
interface GateInSituation {
  step_key: string;
  /** What the approvers send. */
  input?: JsonObject | undefined;
}

/** The open gates of a run, and what the walk needs to know. */
export interface GatesInSituation {
  gates: readonly GateInSituation[];
  situation: Situation;
  /** The policies, prices and tools, with the graph of the run. */
  facts: DryRunRequest;
}

/** What each answer to a gate sets in motion. */
export interface GateConsequences {
  approve: Consequences;
  reject: Consequences;
  /** If the gate has a deadline. */
  timeout?: Consequences;
}

/** For each gate: its consequences, and the part of the situation that they follow from. */
export type GatesConsequences = { consequences: GateConsequences; situation: Situation }[];

/** Undefined when something that decides about the way through the graph is too large for the situation. */
export function gatesConsequences(
  { gates, situation, facts }: GatesInSituation,
  judge: Judge,
): GatesConsequences | undefined {
  if (decidesByLarge(facts.graph, situation)) return undefined;
  const graph = compileGraph(facts.graph);
  const keys = new Set(graph.nodes.flatMap(keysReadBy));
  return gates.map(({ step_key: stepKey, input }) => {
    const around = createScheduler(graph, {}, situation.snapshot).situation([stepKey], keys);
    const own = { ...around, large: situation.large };
    const asked = { graph, situation: own, stepKey, facts: factsFor(facts, judge) };
    return { consequences: gateConsequences(asked, input), situation: own };
  });
}

const decidesByLarge = ({ nodes }: Graph, { large }: Situation): boolean =>
  large.length > 0 &&
  nodes.some((node) => isComputed(node) && keysReadBy(node).some((key) => large.includes(key)));

function gateConsequences(asked: Asked, input: JsonObject | undefined): GateConsequences {
  const node = nodeOf(asked.graph, asked.stepKey);
  const after = (answer: Answer): Consequences => consequencesOf(asked, answer);
  const message = rejectionError(nodeLabel(node), undefined);
  const error = { kind: 'rejected', message, attempts: 1 } as const;
  const approve = after({ approved: true, error, ...(input === undefined ? {} : { input }) });
  const reject = after({ approved: false, error });
  if (node.on_timeout === undefined) return { approve, reject };
  if (node.on_timeout !== 'fail') {
    const timeout = after({ approved: node.on_timeout === 'approve', error });
    return { approve, reject, timeout };
  }
  const late = { kind: 'timeout', message: timeoutError(undefined), attempts: 1 } as const;
  return { approve, reject, timeout: after({ failed: true, error: late }) };
}

function nodeOf({ nodes }: CompiledGraph, stepKey: string) {
  const node = nodes.find(({ id }) => id === nodeIdOf(stepKey));
  if (node?.kind !== 'human_gate') throw new Error(`${stepKey} is no gate`);
  return node;
}
