import type { GateNode } from '#shared/contract/workflows/graph.ts';
import { nodeLabel, outputKey } from '#shared/graph/compile.ts';
import { renderTemplate } from '#shared/graph/expression/template.ts';
import { settingsOf } from '#shared/graph/gates/gate-settings.ts';
import { refusal } from '#shared/graph/gates/rejection.ts';
import { renderTitle, titleOfCall } from '#shared/graph/gates/title.ts';
import { approvalOf, needsApproval } from '#shared/graph/node-approval.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { askAbout } from '#shared/agents/question.ts';
import type { JsonObject } from '#shared/json.ts';
import { messageOf } from '#shared/errors.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import { decisionAt } from './decisions.ts';
import { type AppliedDecision, type AskedGate, failStep, type Playing } from './playing.ts';
import type { StepEntry } from './step-book.ts';

/** A gate that the run has reached. It opens once the run is at rest. */
export function reachGate(run: Playing, step: ReadyNode, node: GateNode): void {
  const { step_key: key, iteration } = step;
  const state = run.scheduler.state(key);
  const place = { step_key: key, node_id: node.id, label: nodeLabel(node), iteration };
  let prompt;
  try {
    const rendered = renderTemplate(node.prompt, state);
    prompt = typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
  } catch (error) {
    run.book.begin({ ...place, kind: node.kind }, 'running');
    failStep(run, key, { message: messageOf(error), kind: 'node', attempts: 1 });
    return;
  }
  const title = node.title === undefined ? undefined : renderTitle(node.title, state);
  const settings = settingsOf(node);
  ask(run, step, {
    opening: {
      ...{ ...place, prompt, round: run.rounds.get(key) ?? 1, fails_on_reject: false },
      ...(title === undefined ? {} : { title }),
      ...(settings === undefined ? {} : { settings }),
    },
    decided: (decision) => decide(run, key, decision),
  });
}

export function ask(
  run: Playing,
  step: ReadyNode,
  gate: Pick<AskedGate, 'opening' | 'decided'>,
): void {
  run.rounds.set(step.step_key, gate.opening.round);
  run.gates.set(step.step_key, { step, since: undefined, ...gate });
}

/** The consequences of a decision at the gate of a node. */
function decide(run: Playing, key: string, decision: AppliedDecision): void {
  const { approved, input } = decision;
  if (decision.timed_out === 'fail') {
    refuse(run, key, decision);
    return;
  }
  const answer = { approved, ...(input === undefined ? {} : { input }) };
  if (run.scheduler.decide(key, answer) === 'rejected') refuse(run, key, decision, false);
  else run.book.succeed(key, answer);
}

function refuse(run: Playing, key: string, decision: AppliedDecision, open = true): void {
  const round = run.rounds.get(key) ?? 1;
  const { reason, timed_out } = decision;
  const error = refusal(run.book.find(key)?.label ?? key, {
    round,
    ...(reason === undefined ? {} : { reason }),
    ...(timed_out === 'fail' ? { timed_out } : {}),
  });
  failStep(run, key, error, { reason: error.kind === 'timeout' ? 'node' : 'rejected', open });
  if (!run.failures.has(key)) return;
  // If the run continues, the gate asks again.
  run.rounds.set(key, round + 1);
  const step = run.book.find(key);
  if (step?.kind !== 'human_gate') return;
  const { approved, input } = decision;
  step.output = { approved, ...(input === undefined ? {} : { input }) };
}

/**
 * What the step of a tool or a sub-workflow is executed with: its arguments, or those that were approved instead.
 * Undefined if it must be approved first: then it waits like a gate.
 */
export function permitted(
  run: Playing,
  step: ReadyNode,
  { args, tool, entry }: { args: JsonObject; tool: string; entry: StepEntry },
): JsonObject | undefined {
  const { scheduler, rounds, approved, book } = run;
  const { step_key: key } = step;
  const node = scheduler.node(key);
  const state = (): JsonObject => scheduler.state(key);
  const asked = rounds.has(key);
  if (!needsApproval(node, { args, state, asked, budget: { work: SMALL_WORK } })) return args;
  const known = approved.get(key);
  const text = canonicalJson(args);
  if (known?.asked === text) return known.sent;
  const approval = approvalOf(node);
  const { question, redacted } = askAbout(tool, args);
  // Other arguments than those that were approved: it asks again.
  const round = (rounds.get(key) ?? 1) + (known === undefined ? 0 : 1);
  approved.delete(key);
  book.begin(entry, 'running', args);
  ask(run, step, {
    opening: {
      ...{ step_key: key, node_id: node.id, label: nodeLabel(node), iteration: step.iteration },
      ...{ round, prompt: question, title: titleOfCall(tool, redacted, approval?.title) },
      ...{ fails_on_reject: true, output_key: outputKey(node), redacted },
      tool_call: { tool, arguments: args, schema_digest: '', tool_digest: null },
      ...(approval?.settings === undefined ? {} : { settings: approval.settings }),
    },
    decided: (decision) => {
      if (!decision.approved) {
        refuse(run, key, decision);
        return;
      }
      approved.set(key, { asked: text, sent: decision.arguments ?? args });
      scheduler.release(key);
    },
  });
  return undefined;
}

/** Opens the gates that the run has reached, and makes the decisions that the test gives. */
export function openGates(run: Playing): void {
  const { gates, book, world, scheduler } = run;
  const { clock } = world;
  for (const gate of gates.values()) {
    if (gate.since !== undefined) continue;
    gate.since = clock.now;
    const { opening, step } = gate;
    const { step_key, node_id, label, iteration } = opening;
    if (book.find(step_key) === undefined) {
      const { kind } = scheduler.node(step_key);
      const { prompt } = opening;
      book.begin({ step_key, node_id, label, kind, iteration }, 'paused', { prompt });
    } else book.find(step_key)!.status = 'paused';
    const made = decisionAt(run, gate);
    if (made === undefined) continue;
    clock.at(clock.now + made.seconds * 1_000, () => {
      if (run.end !== undefined || gates.get(step.step_key) !== gate) return;
      gates.delete(step.step_key);
      const { approved, reason, timed_out } = made.decision;
      book.find(step_key)!.decision = {
        ...{ approved, reason: reason ?? null },
        ...(timed_out === undefined ? {} : { timed_out }),
      };
      gate.decided(made.decision);
      run.proceed();
    });
  }
}
