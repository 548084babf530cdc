import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { compileGraph, type CompiledGraph, nodeLabel } from '#shared/graph/compile.ts';
import { factsFor } from '#shared/graph/dry-run/plan.ts';
import type { DryRunRequest } from '#shared/graph/dry-run/request.ts';
import type { Judge } from '#shared/graph/dry-run/verdicts.ts';
import type { GateDecision } from '#shared/graph/gates/gate-decision.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import { askedStep } from '#shared/graph/gates/gate-opening.ts';
import { refusal } from '#shared/graph/gates/rejection.ts';
import { isComputed } from '#shared/graph/kinds.ts';
import { canAsk } from '#shared/graph/node-approval.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import {
  createScheduler,
  laidAt,
  placeOf,
  type Scheduler,
  SchedulerError,
  type Situation,
} from '#shared/graph/schedule/scheduler.ts';
import { nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import { restoreRunState } from '#shared/graph/schedule/snapshot.ts';
import type { JsonObject } from '#shared/json.ts';
import type { DigestOf } from './many-items.ts';
import {
  type Answer,
  type Asked,
  type Consequences,
  consequencesOf,
  NOTHING,
} from './consequences.ts';

/** An open gate of a run, or a step or an agent that waits for the approval of a call. */
interface GateInSituation {
  step_key: string;
  /** What happens at the deadline of a step. */
  on_timeout?: GateSettings['on_timeout'];
  /** What the approvers send. */
  input?: JsonObject | undefined;
}

/** The open gates of a run, and what the walk needs to know. */
export interface GatesInSituation {
  gates: readonly GateInSituation[];
  situation: Situation;
  /** What the run, as a fork, merges into the state at steps. */
  laid?: Record<string, JsonObject>;
  /** Decisions of the run, oldest first, also some that the situation does not contain. */
  decided?: readonly GateDecision[];
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
  { gates, situation: given, laid = {}, decided = [], facts }: GatesInSituation,
  judge: Judge,
  digestOf: DigestOf,
): GatesConsequences | undefined {
  if (decidesByLarge(facts.graph, given)) return undefined;
  const graph = compileGraph(facts.graph);
  const situation = decided.length === 0 ? given : situationAfter({ graph, laid, decided }, given);
  const keys = new Set(graph.nodes.flatMap(keysReadBy));
  return gates.map((gate) => {
    const { step_key: stepKey } = gate;
    if (!isInProgress(graph, situation, stepKey)) {
      return { consequences: gateConsequences(graph, gate, () => NOTHING), situation };
    }
    const around = createScheduler(graph, {}, situation.snapshot).situation([stepKey], keys);
    const own = { ...around, large: situation.large, asking: situation.asking };
    const known = { ...factsFor(facts, judge), digestOf };
    const asked = { graph, situation: own, laid, stepKey, facts: known };
    const after = (answer: Answer): Consequences => consequencesOf(asked, answer);
    return { consequences: gateConsequences(graph, gate, after), situation: own };
  });
}

/** Whether no decision about another gate has ended what the step is in: the item of a map. */
function isInProgress(graph: CompiledGraph, { snapshot }: Situation, stepKey: string): boolean {
  try {
    const { run, node } = placeOf(restoreRunState(graph, snapshot), stepKey);
    return ['ready', 'taken'].includes(run.phases[node]!);
  } catch (error) {
    if (error instanceof SchedulerError) return false;
    throw error;
  }
}

/** The situation with the decisions about gates that are open in it. */
function situationAfter(
  { graph, laid, decided }: Pick<Asked, 'graph' | 'laid'> & { decided: readonly GateDecision[] },
  situation: Situation,
): Situation {
  const arrivals = laidAt(laid);
  const scheduler = createScheduler(graph, {}, situation.snapshot, { arrivals });
  const asking = new Set(situation.asking);
  for (const decision of decided) {
    const key = askedStep(decision.step_key);
    asking.delete(key);
    // An agent continues with any decision about its call.
    if (key !== decision.step_key) continue;
    try {
      apply(scheduler, decision);
    } catch (error) {
      if (!(error instanceof SchedulerError)) throw error;
    }
  }
  return { ...situation, snapshot: scheduler.snapshot(), asking: [...asking] };
}

function apply(scheduler: Scheduler, decision: GateDecision): void {
  const { step_key: key } = decision;
  const timedOut = decision.timed_out === 'fail';
  const isStep = canAsk(scheduler.node(key));
  if (isStep && decision.approved) return;
  if (timedOut || isStep) scheduler.fail(key);
  else if (scheduler.decide(key, decision) === 'continued') return;
  scheduler.catchFailure(key, refusal(nodeLabel(scheduler.node(key)), decision));
}

const decidesByLarge = ({ nodes }: Graph, { large }: Situation): boolean =>
  large.length > 0 &&
  nodes.some((node) => isComputed(node) && keysReadBy(node).some((key) => large.includes(key)));

function gateConsequences(
  graph: CompiledGraph,
  { step_key: stepKey, input, on_timeout: late }: GateInSituation,
  after: (answer: Answer) => Consequences,
): GateConsequences {
  const node = nodeOf(graph, stepKey);
  const error = refusal(nodeLabel(node), { round: 1 });
  const isGate = node.kind === 'human_gate';
  // The approvers' input goes into the state with any answer.
  const given = { error, ...(input === undefined ? {} : { input }) };
  const approval = (): Consequences =>
    after(isGate ? { approved: true, ...given } : { continues: true });
  const rejection = (): Answer => {
    if (isGate) return { approved: false, ...given };
    return canAsk(node) ? { failed: true, error } : { continues: true };
  };
  const approve = approval();
  const reject = after(rejection());
  switch (isGate ? node.on_timeout : late) {
    case undefined:
      return { approve, reject };
    case 'approve':
      return { approve, reject, timeout: approve };
    case 'reject':
      return { approve, reject, timeout: reject };
    case 'fail': {
      const expired = refusal(nodeLabel(node), { round: 1, timed_out: 'fail' });
      return { approve, reject, timeout: after({ failed: true, error: expired }) };
    }
  }
}

function nodeOf({ nodes }: CompiledGraph, stepKey: string): GraphNode {
  const node = nodes.find(({ id }) => id === nodeIdOf(stepKey));
  if (node === undefined) throw new Error(`${stepKey} is no step of the graph`);
  return node;
}
