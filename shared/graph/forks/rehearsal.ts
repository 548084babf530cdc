import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import { callbacksOf } from '#shared/graph/waits/callbacks.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import {
  differenceOf,
  type DigestedPlan,
  notReused,
  OTHER_AGENT,
  type PlannedFork,
  type RecordedTexts,
} from './plan.ts';
import { play, type Played, type RecordedRun } from './play.ts';

const BY_REQUEST = 'a request decided it, so no one has approved the effects behind it';

interface RehearsalRequest {
  recorded: RecordedRun;
  /** The graph and input of the rehearsal. */
  graph: Graph;
  input: JsonObject;
  /** The step where `state` is merged into the state; for an agent with tools, with the turn at which it continues. */
  from?: string | undefined;
  turn?: number | undefined;
  state?: JsonObject | undefined;
  /** Gates that the request decides, by step key or node id. */
  decided: readonly string[];
  /** Whether the request allows effects: then decisions of earlier requests do not count. */
  effects: boolean;
  /** Nodes whose outputs differ from the recorded ones. */
  pinned: readonly string[];
  /** Whether recorded failures are executed again. */
  retries: boolean;
}

export type RehearsalTexts = Omit<RehearsalRequest, 'recorded'> & { recorded: RecordedTexts };

interface PlannedRehearsal extends PlannedFork {
  /** Steps whose failures will be repeated. */
  failed: string[];
}

/** Like `PlannedRehearsal`, with digests of `others`. */
export type RehearsalPlan = Omit<PlannedRehearsal, 'others'> & DigestedPlan;

/**
 * What a rehearsal reuses from a run before anything is executed: the results of all steps that are reached with the
 * same node and input. Nothing is executed. Whether later steps have a recorded result is decided when they are
 * reached, by their digests.
 */
export function planRehearsal(request: RehearsalRequest): PlannedRehearsal {
  const { from, turn = 1, state, decided, effects, pinned, retries } = request;
  const recorded = retries ? { ...request.recorded, caught: {} } : request.recorded;
  const known = new Map<string, Fingerprint>();
  const before = play(request.recorded, {
    graph: compileGraph(request.recorded.graph),
    input: request.recorded.input,
    from,
    beyond: true,
    refuse: (key, fingerprint) => {
      known.set(key, fingerprint());
      return undefined;
    },
  });
  const after = play(recorded, {
    graph: compileGraph(request.graph),
    input: request.input,
    from,
    beyond: true,
    state,
    held: new Set(turn > 1 && from !== undefined ? [from] : []),
    refuse: (key, fingerprint) => {
      if (decided.includes(key) || decided.includes(nodeIdOf(key))) return 'the request decides it';
      if (effects && recorded.decisions[key]?.by_kind === 'request') return BY_REQUEST;
      if (pinned.includes(nodeIdOf(key))) return 'its output is pinned';
      return differenceOf(known.get(key), fingerprint());
    },
  });
  const problem =
    after.problem ?? (turn > 1 ? continuationProblem(request, before, after) : undefined);
  const others = [...known].filter(([key]) => !after.finished.has(key));
  return {
    kept: [...after.finished.keys()],
    begun: after.begun.filter((key) => key !== from || turn === 1),
    not_reused: notReused(request.recorded, new Set(), { before, after }),
    laid: Object.fromEntries(after.laid),
    failed: retries ? [] : request.recorded.failed.filter((key) => known.has(key)),
    others: Object.fromEntries(others),
    problem,
  };
}

/** Why an agent cannot continue at a turn. Merging state there does not change its prompts. */
function continuationProblem(
  { recorded, from, state }: RehearsalRequest,
  before: Played,
  after: Played,
): string | undefined {
  const node = recorded.graph.nodes.find(({ id }) => id === nodeIdOf(from ?? ''));
  if (node === undefined || before.state === undefined) return OTHER_AGENT;
  const callbacks = callbacksOf(compileGraph(recorded.graph));
  const begins = fingerprintOf(node, { ...before.state, ...state }, callbacks);
  return differenceOf(begins, after.begins) === undefined ? undefined : OTHER_AGENT;
}
