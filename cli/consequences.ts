import type { Gate } from '#client/index.ts';
import { exactJson, type Output } from './output.ts';

type Consequences = NonNullable<Gate['consequences']>;
type Answer = Consequences['approve'];
type Effect = Answer['effects'][number];

const titles = {
  approve: 'If you approve',
  reject: 'If you reject',
  timeout: 'If no one decides in time',
} as const;

type Answers = (keyof typeof titles)[];

/** How many effects of one node are printed, and how many of one answer. */
const MAX_OF_NODE = 10;
const MAX_OF_ANSWER = 100;
const ALL = 'ops gate <run> -o json has all';

/** Prints what answers to a gate set in motion, each effect with its exact arguments. */
export function printConsequences(
  output: Output,
  consequences: Consequences,
  answers = Object.keys(titles) as Answers,
): void {
  for (const answer of answers) {
    const found = consequences[answer];
    if (found === undefined) continue;
    output.note('');
    output.note(output.paint('bold', titles[answer]));
    printAnswer(output, found);
  }
}

function printAnswer(output: Output, { effects, more, next_gates: gates }: Answer): void {
  if (effects.length === 0) output.note('  Nothing is executed.');
  let left = MAX_OF_ANSWER;
  let hidden = 0;
  for (const ofNode of Map.groupBy(effects, ({ node_id }) => node_id).values()) {
    const shown = ofNode.slice(0, Math.min(MAX_OF_NODE, left));
    left -= shown.length;
    for (const effect of shown) printEffect(output, effect);
    const others = ofNode.length - shown.length;
    if (shown.length === 0) hidden += others;
    else if (others > 0) output.note(`  ${others} more of ${ofNode[0]!.node_id}: ${ALL}`);
  }
  if (hidden > 0) output.note(`  ${hidden} more of other nodes: ${ALL}`);
  if (gates.length > 0) output.note(`  Next decision: ${gates.join(', ')}`);
  if (more > 0) output.note(`  After that, up to ${more} more steps can be executed.`);
}

function printEffect(output: Output, effect: Effect): void {
  const { step_key, arguments: args, unknown, problem } = effect;
  output.note(`  ${output.paint('bold', step_key)}: ${doesOf(effect)}, ${whenOf(effect)}`);
  if (args === null) output.note('    its arguments are only shown to those who can approve');
  else if (Object.keys(args).length > 0) output.note(`    ${exactJson(args, 0)}`);
  for (const { path, reads } of unknown) {
    output.note(`    ${path.join('.')} is not known yet: it reads ${reads.join(', ')}`);
  }
  if (problem !== undefined) output.note(`    ${output.paint('red', `It fails: ${problem}`)}`);
}

function doesOf({ kind, tool, host, effect, label, may_call: offered = [] }: Effect): string {
  if (kind === 'tool') {
    const where = host === 'at_run_time' ? 'a host that is not known yet' : host;
    return `${tool}${where === undefined ? '' : ` to ${where}`} (${effect})`;
  }
  if (kind === 'workflow') return `starts a run (${label})`;
  const tools = offered.map((each) =>
    each.approval === 'never' ? each.tool : `${each.tool} (asks)`,
  );
  return tools.length === 0 ? 'asks a model' : `asks a model, which can call ${tools.join(', ')}`;
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
