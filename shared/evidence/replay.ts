import { type CompiledGraph, outputKey } from '#shared/graph/compile.ts';
import { play, type RecordedRun, type Watch } from '#shared/graph/forks/play.ts';
import { evaluateExpression } from '#shared/graph/expression/expression.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import { isChild, isComputed, isExecuted } from '#shared/graph/kinds.ts';
import { prepareStep } from '#shared/graph/prepare/step.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import type { ControlStep } from '#shared/graph/schedule/scheduler.ts';
import { nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import { type Callbacks, callbacksOf } from '#shared/graph/waits/callbacks.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { askedIn, isDecided } from './decisions.ts';
import type { EvidenceFile, Placed } from './file.ts';
import { type Report, sameJson } from './problem.ts';
import { isRecordOf } from './recorded.ts';

type Step = Placed<'step'>;

/** A step while it can run: what it would be given. */
interface Begun {
  given: string | undefined;
  result: string | undefined;
  /** Whether something that it reads was written since. */
  touched: boolean;
}

/** What the replay has shown so far. */
interface Watched {
  watch: Watch;
  /** In the order in which the scheduler can have taken them. */
  ended: string[];
  /** The step after whose end each step could begin. */
  released: Map<string, string | undefined>;
  /** How many inputs were computed. */
  computed: () => number;
}

/**
 * Plays the run again with the recorded results, and reports every step, input, state and output that does not follow.
 * The file has contents. Returns how many inputs it has computed.
 */
export function verifyReplay(file: EvidenceFile, graph: CompiledGraph, report: Report): number {
  const { head, steps, results } = file;
  const recorded = recordedOf(file);
  // Gates that were not decided have ended, too; and the scheduler computes the errors of maps and conditions itself.
  const isOfControl = controlNodes(graph);
  const order = recorded.order.filter((key) => hasResult(recorded, key) && !isOfControl(key));
  const byKey = new Map(steps.map((each) => [each.step.step_key, each]));
  const lineOf = (key: string, otherwise: number): number => byKey.get(key)?.line ?? otherwise;
  const callbacks = callbacksOf(graph);
  const { watch, ended, released, computed } = watchInputs(
    file,
    { callbacks, order, byKey },
    report,
  );
  const played = play(
    { ...recorded, order },
    { graph, input: head.input ?? {}, refuse: () => undefined, watch },
  );
  verifyOrder({ file, order, ended, released, byKey, hasMaps: hasMaps(graph) }, report);
  const known = new Set(results.order);
  for (const { step, line } of steps) {
    const { step_key: key, status, kind, parent_step_key: agent } = step;
    if (status !== 'success' || agent !== undefined || known.has(key)) continue;
    if (!isComputed({ kind })) report(line, `step ${key}`, 'it is not in the order of ends');
  }
  for (const key of order) {
    if (played.finished.has(key)) continue;
    report(lineOf(key, results.line), `step ${key}`, 'nothing in the run leads to it');
  }
  verifyControl(file, played.scheduler.takeControlSteps(), byKey, report);
  if (head.run.status === 'success') {
    for (const key of played.begun) {
      report(lineOf(key, head.line), `step ${key}`, 'the run has not executed it');
    }
    const { state } = played.scheduler.endState();
    compare(head, 'state', JSON.parse(state) as Json, report);
    compare(head, 'output', played.scheduler.output(), report);
  }
  return computed();
}

interface Replayed {
  callbacks: Callbacks;
  order: readonly string[];
  byKey: ReadonlyMap<string, Step>;
}

/** Compares the inputs of steps with what the replay would give them, unless something parallel can have changed it. */
function watchInputs(
  { gates }: EvidenceFile,
  { callbacks, order, byKey }: Replayed,
  report: Report,
): Watched {
  const ended: string[] = [];
  const released: Watched['released'] = new Map();
  const begun = new Map<string, Begun>();
  const expected = new Set(order);
  const asked = askedIn(gates);
  const reads = readsOf();
  let computed = 0;
  const compareInput = (step: Step, given: string): void => {
    if (!isOwn(step) || asked.has(step.step.step_key)) return;
    computed += 1;
    if (isRecordOf(step.input ?? null, JSON.parse(given) as Json)) return;
    report(step.line, `step ${step.step.step_key}: input`, 'it does not follow from the state');
  };
  const compareOutput = (step: Step, result: string): void => {
    // A policy can have redacted what it computes with.
    if (!isOwn(step) || step.step.policy.length > 0 || step.step.status !== 'success') return;
    if (canonicalJson(step.output) === result) return;
    report(step.line, `step ${step.step.step_key}: output`, 'it does not follow from the state');
  };
  const watch: Watch = {
    ready: (key, scheduler) => {
      released.set(key, ended.at(-1));
      const [node, state] = [scheduler.node(key), scheduler.state(key)];
      begun.set(key, {
        given: givenTo(node, state, callbacks),
        result: resultOf(node, state),
        touched: false,
      });
    },
    ends: (key, scheduler) => {
      if (!expected.has(key)) return;
      ended.push(key);
      const node = scheduler.node(key);
      const step = byKey.get(key);
      const before = begun.get(key);
      begun.delete(key);
      const written = writtenBy(node, step);
      for (const [other, each] of begun) {
        const keys = reads(scheduler.node(other));
        if (keys.some((read) => written.includes(read))) each.touched = true;
      }
      if (step === undefined || before === undefined || before.touched) return;
      // What it would be given now is the same, so it was given this.
      const { given, result } = before;
      const state = scheduler.state(key);
      const isSame = given !== undefined && givenTo(node, state, callbacks) === given;
      if (isSame) compareInput(step, given);
      if (result !== undefined && resultOf(node, state) === result) compareOutput(step, result);
    },
  };
  return { watch, ended, released, computed: () => computed };
}

function compare(
  head: EvidenceFile['head'],
  part: 'state' | 'output',
  found: Json,
  report: Report,
) {
  if (!sameJson(head[part] ?? null, found)) {
    report(head.line, `run: ${part}`, 'it does not follow from the results of the steps');
  }
}

/** Whether a step is computed by the scheduler. */
function controlNodes({ nodes }: CompiledGraph): (stepKey: string) => boolean {
  const ids = new Set(nodes.filter(isComputed).map(({ id }) => id));
  return (stepKey) => ids.has(nodeIdOf(stepKey));
}

const hasMaps = ({ nodes }: CompiledGraph): boolean => nodes.some(({ kind }) => kind === 'map');

/** The results in the file, as the scheduler takes them. */
function recordedOf({ head, graph, results, steps, gates }: EvidenceFile): RecordedRun {
  const own = steps.filter(({ step }) => step.parent_step_key === undefined);
  const outputs = own
    .filter(({ step }) => step.status === 'success')
    .map(({ step, output }) => [step.step_key, output ?? null] as const);
  const failed = new Set(
    own.flatMap(({ step }) =>
      step.status === 'failed' && step.caught !== true ? [step.step_key] : [],
    ),
  );
  const decisions: RecordedRun['decisions'] = {};
  for (const gate of gates.toSorted((one, other) => one.round - other.round)) {
    const { step_key: key, gate_kind: kind, status, timed_out: timedOut, input } = gate;
    if (kind !== 'human_gate') continue;
    delete decisions[key];
    const decided = isDecided(gate) || (gate.reused_from !== null && status !== 'open');
    // Its rejection, or its deadline, has failed the run.
    if (!decided || timedOut === 'fail' || failed.has(key)) continue;
    decisions[key] = { approved: status === 'approved', ...(input === null ? {} : { input }) };
  }
  return {
    graph: graph.graph as unknown as Graph,
    input: head.input ?? {},
    laid: head.laid ?? {},
    outputs: Object.fromEntries(outputs),
    caught: results.caught,
    failed: [],
    order: results.order,
    decisions,
  };
}

const hasResult = ({ outputs, caught, decisions }: RecordedRun, key: string): boolean =>
  [outputs, caught, decisions].some((results) => Object.hasOwn(results, key));

/** The keys of the state that nodes read. Parsing their texts once is enough. */
function readsOf(): (node: GraphNode) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (node) => {
    const keys = known.get(node.id) ?? keysReadBy(node);
    known.set(node.id, keys);
    return keys;
  };
}

/** The keys of the state that the end of a step writes. */
function writtenBy(node: GraphNode, step: Step | undefined): string[] {
  const output = step?.output;
  const input =
    node.kind === 'human_gate' && typeof output === 'object' && output !== null && 'input' in output
      ? Object.keys(output['input'] as object)
      : [];
  return [outputKey(node), ...input];
}

/** What a step with this state is given, as canonical JSON. Undefined if that is not what it stores as its input. */
function givenTo(node: GraphNode, state: JsonObject, callbacks: Callbacks): string | undefined {
  try {
    if (isChild(node)) return canonicalJson(toStorable(renderValue(node.input, state)));
    if (!isExecuted(node) || (node.kind === 'agent' && node.tools !== undefined)) return undefined;
    const { params } = prepareStep(node, state, callbacks);
    const given = node.kind === 'agent' ? { model: node.model, ...params } : params;
    return canonicalJson(toStorable(given));
  } catch {
    // Its templates do not fit the state: then the step has failed.
    return undefined;
  }
}

/** What a tool that only computes returns with this state, as canonical JSON. Undefined for other nodes. */
function resultOf(node: GraphNode, state: JsonObject): string | undefined {
  if (node.kind !== 'tool' || node.tool_name !== 'json_transform') return undefined;
  const { expression } = node.params;
  if (typeof expression !== 'string') return undefined;
  try {
    return canonicalJson(toStorable(evaluateExpression(expression, state)));
  } catch {
    return undefined;
  }
}

/** Whether the input is that of the node: not of another run, and not withheld by a policy. */
const isOwn = ({ step, input }: Step): boolean =>
  input !== null &&
  step.reused_from === undefined &&
  step.status !== 'skipped' &&
  !step.policy.some(({ decision }) => decision === 'denied' || decision === 'blocked');

interface Played {
  file: EvidenceFile;
  /** In the order of their ends. */
  order: readonly string[];
  /** In the order in which the scheduler can have taken them. */
  ended: readonly string[];
  /** The step after whose end each step could begin. */
  released: ReadonlyMap<string, string | undefined>;
  byKey: ReadonlyMap<string, Step>;
  hasMaps: boolean;
}

/**
 * Steps begin after those that they follow have ended. Results enter the state one after the other; those of parallel
 * steps can do so in another order than the one in which they ended.
 */
function verifyOrder(
  { file: { head, results }, order, ended, released, byKey, hasMaps: some }: Played,
  report: Report,
): void {
  const ranks = new Map(order.map((key, rank) => [key, rank]));
  let last = -1;
  for (const key of ended) {
    const rank = ranks.get(key) ?? -1;
    if (rank < last) {
      const line = byKey.get(key)?.line ?? results.line;
      report(line, `step ${key}: finished_at`, 'it ended before a step that it follows');
    }
    last = Math.max(last, rank);
  }
  const end = head.run.status === 'success' ? timeOf(head.run.finished_at) : Infinity;
  for (const key of order) {
    const step = byKey.get(key);
    if (step === undefined) {
      report(results.line, `order: ${key}`, 'the file has no such step');
      continue;
    }
    const time = timeOf(step.step.finished_at);
    if (time < timeOf(step.step.started_at) || time > end) {
      report(
        step.line,
        `step ${key}: finished_at`,
        'it is not in the time of the step and the run',
      );
    }
    // The items of a large map begin in groups.
    const after = some ? undefined : byKey.get(released.get(key) ?? '');
    if (after === undefined || step.step.reused_from !== undefined) continue;
    if (timeOf(step.step.started_at) < timeOf(after.step.finished_at)) {
      const { step_key: other } = after.step;
      report(step.line, `step ${key}: started_at`, `it began before ${other} had ended`);
    }
  }
}

const timeOf = (time: string | null): number => (time === null ? 0 : Date.parse(time));

/** Compares conditions, loops, maps, merges and skipped steps with those that the replay has computed. */
function verifyControl(
  { head, steps }: EvidenceFile,
  control: readonly ControlStep[],
  byKey: ReadonlyMap<string, Step>,
  report: Report,
): void {
  const played = new Map(control.map((each) => [each.step_key, each]));
  const whole = head.run.status === 'success';
  for (const [key, { status, output, error }] of played) {
    const found = byKey.get(key);
    if (found === undefined) {
      if (whole) {
        report(head.line, `step ${key}`, `it is missing: the run has computed it as ${status}`);
      }
      continue;
    }
    const { step } = found;
    if (step.caught === true && status === 'failed' && step.error !== (error ?? null)) {
      report(found.line, `step ${key}: error`, 'it does not follow from the items');
    }
    const ended = step.status === 'success' || step.status === 'skipped' || step.caught === true;
    if (!ended) continue;
    if (step.status !== status && (whole || status !== 'running')) {
      report(found.line, `step ${key}: status`, `it should be ${status}`);
    } else if (status === 'success' && !sameJson(found.output ?? null, output ?? null)) {
      report(found.line, `step ${key}: output`, 'it does not follow from the state');
    }
  }
  for (const { step, line } of steps) {
    const isControl = step.status === 'skipped' || (isComputed(step) && step.status === 'success');
    if (!isControl || step.parent_step_key !== undefined || played.has(step.step_key)) continue;
    report(line, `step ${step.step_key}`, 'nothing in the run leads to it');
  }
}
