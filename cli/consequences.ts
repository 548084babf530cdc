import type { Gate } from '#client/index.ts';
import { exactJson, type Output } from './output.ts';

type Answer = NonNullable<Gate['consequences']>['approve'];
type Effect = Answer['effects'][number];

const titles = {
  approve: 'If you approve',
  reject: 'If you reject',
  timeout: 'If no one decides in time',
} as const;

/** Prints what each answer to a gate sets in motion. */
export function printConsequences(output: Output, { consequences }: Gate): void {
  if (consequences === null) return;
  for (const [answer, title] of Object.entries(titles)) {
    const found = consequences[answer as keyof typeof titles];
    if (found === undefined) continue;
    output.note('');
    output.note(output.paint('bold', title));
    printAnswer(output, found);
  }
}

function printAnswer(output: Output, { effects, more, next_gates: gates }: Answer): void {
  if (effects.length === 0) output.note('Nothing is executed.');
  else {
    output.list(effects, {
      Step: 'step_key',
      Does: doesOf,
      When: whenOf,
      With: ({ arguments: args }) => (args === null ? '-' : exactJson(args)),
    });
  }
  for (const { step_key, unknown } of effects) {
    for (const { path, reads } of unknown) {
      output.note(`${step_key}: ${path.join('.')} is not known yet. It reads ${reads.join(', ')}`);
    }
  }
  if (gates.length > 0) output.note(`Next decision: ${gates.join(', ')}`);
  if (more > 0) output.note(`After that, up to ${more} more steps can be executed.`);
}

function doesOf({ kind, tool, host, effect, label, may_call: offered = [] }: Effect): string {
  if (kind === 'tool') return `${tool}${host === undefined ? '' : ` to ${host}`} (${effect})`;
  if (kind === 'workflow') return `starts a run (${label})`;
  const tools = offered.map((each) =>
    each.approval === 'never' ? each.tool : `${each.tool} (asks)`,
  );
  return tools.length === 0 ? 'asks a model' : `asks a model, which may call ${tools.join(', ')}`;
}

function whenOf({ certainty, conditions, executions }: Effect): string {
  if (certainty === 'certain') return 'always';
  const times =
    executions === undefined
      ? []
      : [`${executions.min} to ${executions.max ?? 'any number of'} times`];
  const reasons = conditions.map(({ node_id, when, expression }) =>
    expression === undefined ? `${node_id}: ${when}` : `${expression} is ${when}`,
  );
  return (
    [...times, ...(reasons.length === 0 ? [] : [`if ${reasons.join(', ')}`])].join(', ') || 'maybe'
  );
}
