import {
  type CalledWorkflow,
  calledIn,
  callKey,
  type CallProblems,
} from '#shared/graph/children/called-workflows.ts';
import type { Json } from '#shared/json.ts';

/** The graphs of workflows, by name. */
type Graphs = ReadonlyMap<string, Json>;

/** The calls of a workflow that lead back to it, through the workflows of the test. */
export function callCycles(name: string, graphs: Graphs): CallProblems {
  const calls = calledIn(graphs.get(name) ?? null);
  return Object.fromEntries(
    calls.flatMap((call) => {
      const way = wayBack(graphs, call, name);
      if (way === undefined) return [];
      const names = [name, ...way].map((each) => `'${each}'`).join(' → ');
      const message = `The workflow would start itself, ${names}: remove one of these calls`;
      return [[callKey(call), { code: 'workflow_cycle' as const, message }]];
    }),
  );
}

/** The names from a call to a workflow, both included; undefined if there is no way. */
function wayBack(
  graphs: Graphs,
  { workflow }: CalledWorkflow,
  goal: string,
  seen = new Set<string>(),
): string[] | undefined {
  if (workflow === goal) return [goal];
  if (seen.has(workflow)) return undefined;
  seen.add(workflow);
  for (const call of calledIn(graphs.get(workflow) ?? null)) {
    const way = wayBack(graphs, call, goal, seen);
    if (way !== undefined) return [workflow, ...way];
  }
  return undefined;
}
