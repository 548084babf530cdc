import type { LoopNode } from '#shared/contract/workflows/graph.ts';
import { truthy } from '#shared/graph/expression/expression.ts';
import { enter, note, resetNode, writeOutput, type RunState } from './run-state.ts';
import { entersOwnBody, evaluate, failInPlace, settleAfterBody, settleEdge } from './settle.ts';

/**
 * The maximum number of consecutive control steps without an agent, tool or gate between them. Without it, loops with
 * empty bodies would block the process, since the iterations of nested loops multiply.
 */
export const MAX_STEPS_IN_PLACE = 10_000;

/** Sorts after every iteration of a loop. */
const AFTER_ALL_ROUNDS = Number.MAX_SAFE_INTEGER;

export function beginLoop(run: RunState, node: number): void {
  run.loops.set(node, { round: 0, open: 0, again: false });
  enter(run, node, 'running');
  writeOutput(run, node, { iterations: 0, exhausted: false }, [0, -1]);
  note(run, node, 'running');
  continueLoop(run, node);
}

export function continueLoop(run: RunState, node: number): void {
  const { expression, max_iterations } = run.graph.nodes[node] as LoopNode;
  const value = evaluate(run, node, expression);
  if (value === undefined) return;
  const more = truthy(value);
  if (!more || run.loops.get(node)!.round >= max_iterations) {
    endLoop(run, node, more);
  } else if (run.shared.inPlace >= MAX_STEPS_IN_PLACE) {
    failInPlace(
      run,
      node,
      `The loop went round for ${MAX_STEPS_IN_PLACE} steps without an agent, tool or gate at work`,
    );
  } else {
    beginRound(run, node);
  }
}

function beginRound(run: RunState, node: number): void {
  const loop = run.loops.get(node)!;
  const members = run.members[node]!;
  loop.round += 1;
  loop.open = members.length;
  loop.again = false;
  run.shared.inPlace += 1;
  for (const member of members) resetNode(run, member);
  const output = { iterations: loop.round, exhausted: false };
  writeOutput(run, node, output, [loop.round, -1]);
  for (const edge of run.out[node]!) {
    if (edge.when === 'true' && entersOwnBody(run, edge)) settleEdge(run, edge, true, output);
  }
  if (members.length === 0) run.shared.queue.push({ run, node, what: 'round' });
}

// An iteration that followed no back edge ends the loop, like a break.
export function endRound(run: RunState, node: number): void {
  if (run.loops.get(node)!.again) continueLoop(run, node);
  else endLoop(run, node, false);
}

function endLoop(run: RunState, node: number, exhausted: boolean): void {
  const output = { iterations: run.loops.get(node)!.round, exhausted };
  run.loops.delete(node);
  writeOutput(run, node, output, [AFTER_ALL_ROUNDS, -1]);
  note(run, node, 'success', { output });
  settleAfterBody(run, node, output);
}
