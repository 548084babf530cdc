import type { decidedByKinds } from '#shared/contract/gates/gate.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { messageOf } from '#shared/errors.ts';
import type { GateAnswer } from '#shared/graph/gates/gate-decision.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { joined, type JsonText } from '#shared/values/json-text.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { CompiledGraph } from '#shared/graph/compile.ts';
import { isAwaited, isWaiting } from '#shared/graph/kinds.ts';
import { createReplay } from '#shared/graph/schedule/replay.ts';
import {
  type Arrival,
  type Arrivals,
  createScheduler,
  type Scheduler,
} from '#shared/graph/schedule/scheduler.ts';
import { type Callbacks, callbacksOf } from '#shared/graph/waits/callbacks.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';

/** A decision, and whether it was made by a person, a deadline or the request of a rehearsal. */
type RecordedDecision = Pick<GateAnswer, 'approved' | 'input'> & {
  by_kind?: (typeof decidedByKinds)[number];
};

/** A run that a fork continues, with the results in its ledger. */
export interface RecordedRun {
  graph: Graph;
  input: JsonObject;
  /** What was merged into the state at steps, by step key, if the run is itself a fork. */
  laid: Record<string, JsonObject>;
  /** Outputs of finished agents, tools and workflows, by step key. */
  outputs: Record<string, Json | JsonText>;
  /** Errors whose error edges were taken. */
  caught: Record<string, CaughtError>;
  /** Steps whose failure failed the run. */
  failed: readonly string[];
  /** The steps with a result, in the order in which they ended. */
  order: readonly string[];
  /** The last decision of each decided gate, except for failures at a deadline. */
  decisions: Record<string, RecordedDecision>;
  /** Finished steps that depend on decisions in their child runs: they count like gates. */
  gated?: readonly string[];
}

const NOT_REACHED =
  'the run does not reach it with this graph and input: fork from an earlier step, or run again';

export interface Playing {
  graph: CompiledGraph;
  input: JsonObject;
  /** The step at which execution starts: the state is merged there, and nothing after it is replayed. */
  from?: string | undefined;
  state?: JsonObject;
  /** Whether the other branches see that state, as they do in the fork. */
  lays?: boolean;
  /** Also replays that step and those after it. */
  beyond?: boolean;
  /** The results of these steps are not reused. */
  held?: ReadonlySet<string>;
  /**
   * Why the result of a step is not reused. `fingerprint` throws when its templates cannot be rendered with the state.
   */
  refuse: (key: string, fingerprint: () => Fingerprint) => string | undefined;
  watch?: Watch;
}

/** Called as the replay proceeds. */
export interface Watch {
  /** A step with a result can begin. */
  ready: (key: string, scheduler: Scheduler) => void;
  /** It ends. */
  ends: (key: string, scheduler: Scheduler) => void;
}

export interface Played {
  /** The node ids of the steps with a recorded result, by step key. */
  finished: Map<string, string>;
  begun: string[];
  /** Why the result of a step was not reused. */
  reasons: Map<string, string>;
  laid: Map<string, JsonObject>;
  /** The initial state of the step at which execution starts; undefined when it was not reached. */
  state: JsonObject | undefined;
  /** The fingerprint of that step. */
  begins: Fingerprint | undefined;
  problem: string | undefined;
  /** The run as it is then. */
  scheduler: Scheduler;
}

/** Replays a run with its recorded results. Nothing is executed. */
export function play(recorded: RecordedRun, playing: Playing): Played {
  const { graph, input, from, held, refuse, watch } = playing;
  const played: Omit<Played, 'scheduler'> = {
    finished: new Map(),
    begun: [],
    reasons: new Map(),
    laid: new Map(),
    state: undefined,
    begins: undefined,
    problem: from === undefined ? undefined : NOT_REACHED,
  };
  const callbacks = callbacksOf(graph);
  const scheduler = createScheduler(graph, input, undefined, {
    arrivals: arrivalsOf(recorded, playing, played),
  });
  const take = (key: string): void => {
    const node = scheduler.node(key);
    watch?.ends(key, scheduler);
    const reason = refusalOf(() =>
      refuse(key, () => fingerprintOf(node, scheduler.state(key), callbacks)),
    );
    if (reason !== undefined) played.reasons.set(key, reason);
    else if (held?.has(key) === true) played.begun.push(key);
    else if (repeat(scheduler, recorded, key, node)) played.finished.set(key, node.id);
    else played.begun.push(key);
  };
  playInOrder(scheduler, { take, watch }, recorded.order);
  if (from === undefined) return { ...played, scheduler };
  if (played.state !== undefined) begin(played, scheduler.node(from), played.state, callbacks);
  else if (played.reasons.size + played.begun.length > 0 && !skips(scheduler, from)) {
    // Steps that are executed again earlier may lead there.
    played.problem = undefined;
  }
  return { ...played, scheduler };
}

/**
 * Takes every step that becomes ready: those with a result in the order in which they ended, then the others, as a run
 * does that continues from a ledger. Which steps begin can depend on which ones end first: an error stops others.
 */
function playInOrder(
  scheduler: Scheduler,
  { take, watch }: { take: (key: string) => void; watch: Watch | undefined },
  order: readonly string[],
): void {
  const replay = createReplay(order);
  for (;;) {
    const ready = scheduler.takeReady(Infinity, (key) => replay.has(key));
    for (const { step_key: key } of ready) watch?.ready(key, scheduler);
    replay.add(ready);
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
  { from, state, lays = false, beyond = false }: Playing,
  played: Pick<Played, 'laid' | 'state'>,
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
      played.state = joined(seen, laid);
      return { laid: lays || beyond ? laid : undefined, stops: !beyond };
    },
  ]);
  return new Map(arrivals);
}

/** The step at which execution starts. Computed steps have no input of their own. */
function begin(
  played: Pick<Played, 'problem' | 'begins'>,
  node: GraphNode,
  state: JsonObject,
  callbacks: Callbacks,
): void {
  played.problem = undefined;
  if (!isAwaited(node)) return;
  try {
    played.begins = fingerprintOf(node, state, callbacks);
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

/** Gives the step its recorded result again. Returns false when there is none with which the run continues. */
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
