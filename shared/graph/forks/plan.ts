import type { NotReused } from '../../contract/fork.ts';
import type { decidedByKinds } from '../../contract/gate.ts';
import type { Graph, GraphNode } from '../../contract/graph.ts';
import { messageOf } from '../../errors.ts';
import type { GateAnswer } from '../../gate-decision.ts';
import type { Json, JsonObject } from '../../json.ts';
import { storedProblem } from '../../outside-json.ts';
import type { CaughtError } from '../caught-error.ts';
import { type CompiledGraph, compileGraph } from '../compile.ts';
import { isChild, isExecuted, isWaiting } from '../kinds.ts';
import {
  type Arrival,
  type Arrivals,
  createScheduler,
  nodeIdOf,
  type Scheduler,
} from '../schedule/scheduler.ts';
import { createReplay } from '../schedule/replay.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';

/** A decision, and whether a person, a deadline or the request of a rehearsal made it. */
type RecordedDecision = Pick<GateAnswer, 'approved' | 'input'> & {
  by_kind?: (typeof decidedByKinds)[number];
};

/** A run that a fork continues, with the results that its ledger has. */
export interface RecordedRun {
  graph: Graph;
  input: JsonObject;
  /** What was laid over the state at steps, by step key, when it was forked itself. */
  laid: Record<string, JsonObject>;
  /** Outputs of finished agents, tools and workflows, by step key. */
  outputs: Record<string, Json>;
  /** Errors whose error edges were taken. */
  caught: Record<string, CaughtError>;
  /** Steps that have failed the run. */
  failed: readonly string[];
  /** The steps with a result, in the order in which they ended. */
  order: readonly string[];
  /** The last decision of each gate that is decided, unless it failed at its deadline. */
  decisions: Record<string, RecordedDecision>;
}

/** The same with outputs as JSON texts: they are read in the thread that plans. */
export type RecordedTexts = Omit<RecordedRun, 'outputs'> & { outputs: Record<string, string> };
export type ForkTexts = Omit<ForkRequest, 'recorded'> & { recorded: RecordedTexts };

/** `unusable`: why steps cannot be taken over whose outputs are older than the limits and exceed them, by step key. */
export function recordedOf({ outputs: texts, ...rest }: RecordedTexts): {
  recorded: RecordedRun;
  unusable: Map<string, string>;
} {
  const unusable = new Map<string, string>();
  const outputs = Object.entries(texts).map(([key, text]): [string, Json] => {
    const problem = storedProblem(text);
    if (problem === undefined) return [key, JSON.parse(text) as Json];
    unusable.set(key, `the output of step '${key}' is too large to be reused: ${problem}`);
    return [key, null];
  });
  return { recorded: { ...rest, outputs: Object.fromEntries(outputs) }, unusable };
}

/** The plan, with a problem if it takes over what is unusable. */
export function withoutUnusable<Plan extends ForkPlan>(
  plan: Plan,
  unusable: ReadonlyMap<string, string>,
): Plan {
  const problem = plan.kept.flatMap((key) => unusable.get(key) ?? [])[0];
  return problem === undefined ? plan : { ...plan, problem };
}

export interface ForkRequest {
  recorded: RecordedRun;
  /** The key of the step from which the fork is executed. */
  from: string;
  /** For an agent with tools: the turn from which it continues; its earlier turns stay. */
  turn?: number | undefined;
  /** Laid over the state there. */
  state?: JsonObject | undefined;
  /** The graph and the input of the fork, where they may differ from those of the recorded run. */
  changed?: { graph: Graph; input: JsonObject } | undefined;
}

export interface ForkPlan {
  /** Finished steps that the fork takes over, in an order in which they can follow each other. */
  kept: string[];
  /** Steps that were reached and not finished, and are the same: agents among them keep their finished turns. */
  begun: string[];
  not_reused: NotReused[];
  /** What the fork lays over the state at steps: what the run did before that step, and its own. */
  laid: Record<string, JsonObject>;
  /** Why the fork cannot be executed from its step. */
  problem?: string;
}

/**
 * What a fork takes over from a run: everything that was finished and does not depend on the step from which it is
 * executed. With another graph or input, only the steps whose node and input are the same. The run is played with its
 * recorded results up to that step; nothing is executed.
 */
export function planFork({ recorded, from, turn = 1, state = {}, changed }: ForkRequest): ForkPlan {
  const known = new Map<string, Fingerprint>();
  const graph = compileGraph(recorded.graph);
  const before = play(recorded, {
    graph,
    input: recorded.input,
    from,
    state,
    refuse: (key, fingerprint) => {
      if (changed !== undefined) known.set(key, fingerprint());
      return undefined;
    },
  });
  const after =
    changed === undefined
      ? before
      : play(recorded, {
          graph: compileGraph(changed.graph),
          input: changed.input,
          from,
          state,
          refuse: (key, fingerprint) => differenceOf(known.get(key), fingerprint()),
        });
  const problem =
    after.problem ??
    (turn > 1 && differenceOf(before.begins, after.begins) !== undefined ? OTHER_AGENT : undefined);
  return {
    kept: [...after.finished.keys()],
    begun: after.begun,
    not_reused: notReused(recorded, following(graph, nodeIdOf(from)), { before, after }),
    laid: Object.fromEntries(after.laid),
    ...(problem === undefined ? {} : { problem }),
  };
}

const NOT_REACHED =
  'the run does not reach it with this graph and input: fork from an earlier step, or run again';
export const OTHER_AGENT =
  'the agent or its input has changed, so its earlier turns cannot be reused: fork from its first turn';
const FOLLOWS = 'it is not reached without a step that is executed again';
const BY_ORDER = 'whether it is reached depends on the order in which other steps end';

/** The finished steps that do not follow the step from which the fork is executed, and are not taken over. */
export function notReused(
  { outputs, caught, decisions }: RecordedRun,
  follows: ReadonlySet<string>,
  { before, after }: Record<'before' | 'after', Played>,
): NotReused[] {
  const all = Object.keys({ ...outputs, ...caught, ...decisions });
  return [...new Set([...before.finished.keys(), ...all])].flatMap((step_key) => {
    const node_id = nodeIdOf(step_key);
    if (after.finished.has(step_key)) return [];
    if (!before.finished.has(step_key) && follows.has(node_id)) return [];
    const other = before.finished.has(step_key) ? FOLLOWS : BY_ORDER;
    return [{ step_key, node_id, reason: after.reasons.get(step_key) ?? other }];
  });
}

/** A node, and those that can follow it. The end of a body is followed by its loop or map. */
function following({ nodes, edges, regions }: CompiledGraph, nodeId: string): Set<string> {
  const found = new Set([nodes.findIndex(({ id }) => id === nodeId)]);
  for (const node of found) {
    if (regions[node] !== -1) found.add(regions[node]!);
    for (const { from, to } of edges) if (from === node) found.add(to);
  }
  return new Set([...found].flatMap((node) => nodes[node]?.id ?? []));
}

export function differenceOf(
  before: Fingerprint | undefined,
  after: Fingerprint | undefined,
): string | undefined {
  if (before?.node !== after?.node) return 'its node has changed';
  return before?.input === after?.input ? undefined : 'its input has changed';
}

export interface Playing {
  graph: CompiledGraph;
  input: JsonObject;
  /** The step from which it is executed: there the state is laid, and nothing of what follows is played. */
  from?: string | undefined;
  state?: JsonObject;
  /** Plays also that step and what follows. */
  beyond?: boolean;
  /** The result of this step is not taken over. */
  held?: string | undefined;
  /** Why the result of a step is not taken over. `fingerprint` throws when its templates do not fit the state. */
  refuse: (key: string, fingerprint: () => Fingerprint) => string | undefined;
}

export interface Played {
  /** The node ids of the steps with a recorded result, by step key. */
  finished: Map<string, string>;
  begun: string[];
  /** Why the result of a step was not taken over. */
  reasons: Map<string, string>;
  laid: Map<string, JsonObject>;
  /** With which the step begins from which the fork is executed; undefined when it was not reached. */
  state: JsonObject | undefined;
  /** Of that step. */
  begins: Fingerprint | undefined;
  problem: string | undefined;
}

export function play(recorded: RecordedRun, playing: Playing): Played {
  const { graph, input, from, held, refuse } = playing;
  const played: Played = {
    finished: new Map(),
    begun: [],
    reasons: new Map(),
    laid: new Map(),
    state: undefined,
    begins: undefined,
    problem: from === undefined ? undefined : NOT_REACHED,
  };
  const scheduler = createScheduler(graph, input, undefined, {
    arrivals: arrivalsOf(recorded, playing, played),
  });
  const take = (key: string): void => {
    const node = scheduler.node(key);
    const reason = refusalOf(() => refuse(key, () => fingerprintOf(node, scheduler.state(key))));
    if (reason !== undefined) played.reasons.set(key, reason);
    else if (key === held) played.begun.push(key);
    else if (repeat(scheduler, recorded, key, node)) played.finished.set(key, node.id);
    else played.begun.push(key);
  };
  playInOrder(scheduler, take, recorded.order);
  if (from === undefined) return played;
  if (played.state !== undefined) begin(played, scheduler.node(from), played.state);
  else if (played.reasons.size + played.begun.length > 0 && !skips(scheduler, from)) {
    // What is executed again before may lead there.
    played.problem = undefined;
  }
  return played;
}

/**
 * Takes every step that becomes ready: those with a result in the order in which they had ended, then others. Which
 * steps of a map begin depends on what ends before.
 */
function playInOrder(
  scheduler: Scheduler,
  take: (key: string) => void,
  order: readonly string[],
): void {
  const replay = createReplay(order);
  for (;;) {
    replay.add(scheduler.takeReady(Infinity, (key) => replay.has(key)));
    const next = replay.next();
    if (next !== undefined) {
      take(next.step_key);
      continue;
    }
    const others = scheduler.takeReady();
    for (const { step_key: key } of others) take(key);
    if (others.length === 0 && !scheduler.held) return;
  }
}

const skips = (scheduler: Scheduler, stepKey: string): boolean =>
  scheduler
    .takeControlSteps()
    .some(({ step_key, status }) => step_key === stepKey && status === 'skipped');

function arrivalsOf(
  recorded: RecordedRun,
  { from, state, beyond = false }: Playing,
  played: Played,
): Arrivals {
  const arrivals: [string, (seen: JsonObject) => Arrival][] = Object.entries(recorded.laid).map(
    ([key, laid]) => [
      key,
      () => {
        played.laid.set(key, laid);
        return { laid };
      },
    ],
  );
  if (from === undefined) return new Map(arrivals);
  const laid = { ...recorded.laid[from], ...state };
  arrivals.push([
    from,
    (seen) => {
      if (Object.keys(laid).length > 0) played.laid.set(from, laid);
      played.state = { ...seen, ...laid };
      return beyond ? { laid } : { stops: true };
    },
  ]);
  return new Map(arrivals);
}

/** The step from which the fork is executed: computed ones have no input of their own. */
function begin(played: Played, node: GraphNode, state: JsonObject): void {
  played.problem = undefined;
  if (!isExecuted(node) && !isChild(node) && !isWaiting(node)) return;
  try {
    played.begins = fingerprintOf(node, state);
  } catch (error) {
    played.problem = `its templates do not fit the state: ${messageOf(error)}`;
  }
}

function refusalOf(refuse: () => string | undefined): string | undefined {
  try {
    return refuse();
  } catch {
    return 'its templates do not fit the state';
  }
}

/** Gives the step its recorded result again. Returns false when it has none with which the run continues. */
function repeat(
  scheduler: Scheduler,
  { outputs, caught, decisions }: RecordedRun,
  key: string,
  node: GraphNode,
): boolean {
  if (Object.hasOwn(caught, key)) {
    if (!scheduler.catches(key)) return false;
    scheduler.fail(key);
    return scheduler.catchFailure(key, caught[key]!);
  }
  if (isWaiting(node)) {
    return Object.hasOwn(decisions, key) && scheduler.decide(key, decisions[key]!) === 'continued';
  }
  if (!Object.hasOwn(outputs, key)) return false;
  scheduler.complete(key, outputs[key]!);
  return true;
}
