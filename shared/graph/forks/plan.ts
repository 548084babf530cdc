import type { NotReused } from '#shared/contract/forks/fork.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { JsonText } from '#shared/values/json-text.ts';
import { storedProblem } from '#shared/outside-json.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import { isWaiting } from '#shared/graph/kinds.ts';
import { nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import { reopenedGates, laidBefore, laidWith } from './reopened-gates.ts';
import type { Fingerprint } from './fingerprint.ts';
import { play, type Played, type Playing, type RecordedRun } from './play.ts';

/** Like `RecordedRun`, with outputs as texts, as they are stored. */
export type RecordedTexts = Omit<RecordedRun, 'outputs'> & { outputs: Record<string, string> };
export type ForkTexts = Omit<ForkRequest, 'recorded'> & { recorded: RecordedTexts };

/**
 * `unusable`: why some steps cannot be taken over, by step key: their outputs are older than the present limits and
 * exceed them.
 */
export function recordedOf({ outputs: texts, ...rest }: RecordedTexts): {
  recorded: RecordedRun;
  unusable: Map<string, string>;
} {
  const unusable = new Map<string, string>();
  const outputs = Object.entries(texts).map(([key, text]): [string, JsonText | null] => {
    const problem = storedProblem(text);
    if (problem === undefined) return [key, new JsonText(text)];
    unusable.set(key, `the output of step '${key}' is too large to be reused: ${problem}`);
    return [key, null];
  });
  return { recorded: { ...rest, outputs: Object.fromEntries(outputs) }, unusable };
}

/** The plan, with a problem if it takes over an unusable output. */
export function withoutUnusable<Plan extends ForkPlan>(
  plan: Plan,
  unusable: ReadonlyMap<string, string>,
): Plan {
  const problem = plan.kept.flatMap((key) => unusable.get(key) ?? [])[0];
  return problem === undefined ? plan : { ...plan, problem };
}

export interface ForkRequest {
  recorded: RecordedRun;
  /** The key of the step at which execution starts. */
  from: string;
  /** For an agent with tools: the turn at which it continues. Its earlier turns are kept. */
  turn?: number | undefined;
  /** Merged into the state there. */
  state?: JsonObject | undefined;
  /** The graph and input of the fork, if they may differ from those of the recorded run. */
  changed?: { graph: Graph; input: JsonObject } | undefined;
}

export interface ForkPlan {
  /** Finished steps that the fork takes over, in a possible order of execution. */
  kept: string[];
  /** Unfinished steps that were reached and are the same. Agents among them keep their finished turns. */
  begun: string[];
  not_reused: NotReused[];
  /** What the fork merges into the state at steps: what the run itself merged before that step, and the fork's own. */
  laid: Record<string, JsonObject>;
  /** Why the fork cannot be executed from its step. */
  problem?: string;
}

export interface PlannedFork extends ForkPlan {
  /**
   * What steps behind gates that are asked again were executed with, by step key. A step with the same fingerprint has
   * the same result. An agent with tools has its finished turns, before `turn` if it is the step of the fork.
   */
  others: Record<string, Fingerprint>;
}

/** A plan with the digests of `others`. */
export interface DigestedPlan extends ForkPlan {
  digests: Record<string, string>;
}

/**
 * What a fork takes over from a run: everything that was finished and does not depend on the step at which execution
 * starts. With another graph or input, only the steps whose node and input are the same. The run is replayed with its
 * recorded results up to that step; nothing is executed. Gates behind which something is executed are asked again: see
 * `reopenedGates`.
 */
export function planFork({
  recorded,
  from,
  turn = 1,
  state = {},
  changed,
}: ForkRequest): PlannedFork {
  const known = new Map<string, Fingerprint>();
  const graph = compileGraph(recorded.graph);
  const { gated = [] } = recorded;
  const isGated = gated.length > 0 || graph.nodes.some(isWaiting);
  const before = play(recorded, {
    graph,
    input: recorded.input,
    from,
    state,
    refuse: (key, fingerprint) => {
      if (changed !== undefined || isGated) known.set(key, fingerprint());
      return undefined;
    },
  });
  const { input } = changed ?? recorded;
  const target = { graph: changed === undefined ? graph : compileGraph(changed.graph), input };
  const compare = (key: string, fingerprint: () => Fingerprint) =>
    differenceOf(known.get(key), fingerprint());
  const refuse = changed === undefined ? () => undefined : compare;
  const own = { ...recorded.laid[from], ...state };
  const differs = changed !== undefined || Object.keys(own).length > 0;
  const first = differs ? play(recorded, { ...target, from, state, refuse, lays: true }) : before;
  const { asked, laid, after, expected } = playAsked(
    { recorded, from, laid: laidWith(before.laid, from, own) },
    { target, first, compare },
  );
  const problem =
    expected.problem ??
    (turn > 1 && differenceOf(before.begins, expected.begins) !== undefined
      ? OTHER_AGENT
      : undefined);
  const isKept = (key: string): boolean => after.finished.has(key) || asked.has(key);
  const others = [...known].filter(
    ([key]) => !isKept(key) && (first.finished.has(key) || hasTurns(target.graph, first, key)),
  );
  const continued = turn > 1 && after.state === undefined ? expected.begins : undefined;
  return {
    kept: [...after.finished.keys()],
    begun: after.begun.filter((key) => !asked.has(key)),
    not_reused: [
      ...notReused(recorded, following(graph, nodeIdOf(from)), { before, after: expected }),
      ...askedSteps(asked, gated),
    ],
    laid,
    others: {
      ...(asked.size === 0 ? {} : Object.fromEntries(others)),
      ...(continued === undefined ? {} : { [from]: continued }),
    },
    problem,
  };
}

const askedSteps = (asked: ReadonlySet<string>, gated: readonly string[]): NotReused[] =>
  [...asked].map((step_key) => ({
    step_key,
    node_id: nodeIdOf(step_key),
    reason: gated.includes(step_key) ? GATED : ASKED,
  }));

interface Comparing {
  target: Pick<Playing, 'graph' | 'input'>;
  /** With all recorded decisions. */
  first: Played;
  compare: (key: string, fingerprint: () => Fingerprint) => string | undefined;
}

/**
 * The run as the fork begins, without the decisions that are asked again, and as it is expected to continue after them:
 * like `first`, but with the state merged earlier.
 */
function playAsked(
  { recorded, from, laid }: Pick<ForkRequest, 'recorded' | 'from'> & { laid: Played['laid'] },
  { target, first, compare }: Comparing,
) {
  // Steps parallel to a gate could see what it wrote: their fingerprints were compared earlier.
  const refused = (key: string) => first.reasons.get(key);
  const origins = new Set([from, ...first.reasons.keys()]);
  const movedBefore = (gates: ReadonlySet<string>): RecordedRun => ({
    ...recorded,
    laid: laidBefore(target.graph, gates, laid),
  });
  let asked: ReadonlySet<string> = new Set();
  let moved = movedBefore(asked);
  let after = first;
  for (;;) {
    // Also steps that an error kept from starting in the run, if that error is behind a gate that is asked again.
    for (const key of after.begun) origins.add(key);
    const found = reopenedGates(target.graph, recorded, {
      decided: [...first.finished.keys()],
      origins,
    });
    if (found.size === asked.size) break;
    asked = found;
    moved = movedBefore(asked);
    after = play(moved, { ...target, from, held: asked, refuse: refused, lays: true });
  }
  if (asked.size === 0) return { asked, laid: moved.laid, after, expected: first };
  // Regardless of the gates' prompts.
  const expected = play(moved, {
    ...target,
    from,
    lays: true,
    refuse: (key, fingerprint) => (asked.has(key) ? undefined : compare(key, fingerprint)),
  });
  return { asked, laid: moved.laid, after, expected };
}

/** Whether the step is an unfinished agent with tools, whose finished turns count. */
function hasTurns({ nodes }: CompiledGraph, { begun }: Played, key: string): boolean {
  const node = nodes.find(({ id }) => id === nodeIdOf(key));
  return node?.kind === 'agent' && node.tools !== undefined && begun.includes(key);
}

const ASKED =
  'it is asked again, because what follows it is executed: a decision counts in the run in which it was made';
const GATED =
  'it is started again, because a gate was decided in its run: a decision counts in the run in which it was made';
export const OTHER_AGENT =
  'the agent or its input has changed, so its earlier turns cannot be reused: fork from its first turn';
const FOLLOWS = 'it is not reached without a step that is executed again';
const BY_ORDER = 'whether it is reached depends on the order in which other steps end';

/** The finished steps that do not follow the step at which execution starts, and are not taken over. */
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
