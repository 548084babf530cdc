import type { CompiledGraph } from '#shared/graph/compile.ts';
import { differencesFrom, entryFor } from '#shared/graph/consequences/binding.ts';
import { isEffect } from '#shared/graph/consequences/effects.ts';
import { relation } from '#shared/graph/consequences/relation.ts';
import { askedStep } from '#shared/graph/gates/gate-opening.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { askedIn, isDecided } from './decisions.ts';
import type { EvidenceFile, Placed } from './file.ts';
import type { Report } from './problem.ts';
import { REDACTED } from './recorded.ts';

type Gate = Placed<'gate'>;

/**
 * Checks that each effect behind a decided gate was listed there, and, with contents, that it had the arguments that
 * were shown as known. Returns how many effects it has compared.
 */
export function verifyEffects(
  { head, gates, steps }: EvidenceFile,
  graph: CompiledGraph,
  report: Report,
): number {
  const decided = gates.filter(isDecided);
  const answered = decided
    .filter(({ gate_kind }) => gate_kind === 'human_gate')
    .toSorted((one, other) => timeOf(one.decided_at) - timeOf(other.decided_at));
  // They are bound by their own approval.
  const asked = askedIn(gates);
  let compared = 0;
  for (const placed of steps) {
    const { step, line } = placed;
    const node = graph.nodes.find(({ id }) => id === step.node_id);
    if (node === undefined || !isEffect(node) || asked.has(step.step_key)) continue;
    if (step.parent_step_key !== undefined || step.reused_from !== undefined) continue;
    const [first] = step.attempts;
    if (first === undefined) continue;
    const gate = answered
      .filter((each) => timeOf(each.decided_at) < timeOf(first.started_at))
      .findLast(({ step_key }) => relation(graph, step_key, step.step_key) !== 'none');
    if (gate === undefined || gate.consequences === null) continue;
    if (relation(graph, gate.step_key, step.step_key) === 'outside') continue;
    compared += 1;
    const shown = entryFor(effectsOf(gate), step.step_key);
    if (shown === undefined) {
      // It can be one of those that were only counted, because another open gate was before it, too.
      const others = decided.filter((each) => each !== gate && isOpenWith(each, gate));
      const isBehind = ({ step_key: key }: Gate): boolean =>
        relation(graph, askedStep(key), step.step_key) !== 'none';
      if (others.some(isBehind)) continue;
      report(line, `step ${step.step_key}`, `gate '${gate.step_key}' did not show it`);
      continue;
    }
    // The turns and calls of an agent are not shown one by one.
    if (node.kind === 'agent' && node.tools !== undefined) continue;
    if (!head.contents || shown.arguments === null || !isObject(placed.input)) continue;
    const { model: _model, mock: _mock, ...prompts } = placed.input;
    const recorded = node.kind === 'agent' ? prompts : placed.input;
    const tool = node.kind === 'tool' ? node.tool_name : undefined;
    // Nothing was sent by a step that the policies refused.
    if (step.policy.some(({ decision }) => decision === 'denied' || decision === 'blocked')) {
      continue;
    }
    const different = differencesFrom(
      { ...shown, arguments: shown.arguments },
      { tool, arguments: unredacted(recorded, shown.arguments) as JsonObject },
    );
    for (const path of different) {
      report(
        line,
        `step ${step.step_key}: ${path}`,
        `it is not what gate '${gate.step_key}' showed`,
      );
    }
  }
  return compared;
}

/** Whether a gate was decided while the other one was open. */
const isOpenWith = (each: Gate, other: Gate): boolean =>
  timeOf(each.decided_at) >= timeOf(other.opened_at);

const timeOf = (time: string | null): number => (time === null ? 0 : Date.parse(time));

/** What the gate showed for the answer that was given. */
function effectsOf({ consequences, timed_out, status }: Gate) {
  const answer = timed_out !== null ? 'timeout' : status === 'approved' ? 'approve' : 'reject';
  return consequences?.[answer]?.effects ?? [];
}

/** The recorded value, with what was shown where the policies have redacted the record. */
function unredacted(recorded: Json, shown: Json | undefined): Json {
  if (typeof recorded === 'string' && recorded.includes(REDACTED)) return shown ?? recorded;
  if (Array.isArray(recorded)) {
    const items = Array.isArray(shown) ? shown : [];
    return recorded.map((item, at) => unredacted(item, items[at]));
  }
  if (!isObject(recorded)) return recorded;
  const values = isObject(shown) ? shown : {};
  return Object.fromEntries(
    Object.entries(recorded).map(([key, value]) => [key, unredacted(value, values[key])]),
  );
}
