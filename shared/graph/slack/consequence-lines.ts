import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import { beginningOf } from '#shared/values/excerpt.ts';

type Answer = GateConsequences['approve'];
type Effect = Answer['effects'][number];

/** The effects of an answer that a message lists. */
const MAX_EFFECTS = 15;
/** The characters of the arguments of one effect, and of what decides about it. */
const MAX_ARGUMENTS = 700;
const MAX_CONDITION = 200;

/** What an answer to a gate sets in motion, in lines, and whether some of it was left out or cut. */
export interface AnswerLines {
  lines: string[];
  cut: boolean;
}

/** `after`: the call whose approval comes first. */
export function answerLines(answer: Answer, title: string, isAfterCall = false): AnswerLines {
  const { effects, more, next_gates: gates } = answer;
  const shown = effects.slice(0, MAX_EFFECTS).map(effectLines);
  const left = effects.length - shown.length;
  const nothing = isAfterCall ? 'Nothing else is executed.' : 'Nothing is executed.';
  return {
    lines: [
      `${title}:`,
      ...(effects.length === 0 ? [nothing] : shown.flatMap(({ lines }) => lines)),
      ...(left === 0 ? [] : [`• and ${left} more`]),
      ...(gates.length === 0
        ? []
        : [`Then the run waits for a decision: ${short(gates.join(', '))}`]),
      ...(more === 0 ? [] : [`${more} more steps can follow.`]),
    ],
    cut: left > 0 || shown.some(({ cut }) => cut),
  };
}

function effectLines(effect: Effect): AnswerLines {
  const { label, effect: access, items, problem, arguments: given, unknown } = effect;
  const first = `• ${access === 'write' ? 'Write' : 'Read'} ${short(label)}: ${action(effect)}, ${certainty(effect)}`;
  if (problem !== undefined) {
    return { lines: [first, `   Its arguments cannot be rendered: ${short(problem)}`], cut: false };
  }
  const values = items === undefined ? given : (items.first[0] ?? null);
  const args = argumentText(values);
  const missing = (items?.unknown ?? unknown).map(({ path }) => path.join('.'));
  return {
    lines: [
      first,
      ...(items === undefined ? [] : [`   ${items.count} items, the first of them:`]),
      ...(args.text === '' ? [] : [`   ${args.text}`]),
      ...(missing.length === 0 ? [] : [`   Not known yet: ${short(missing.join(', '))}`]),
      ...mayCall(effect),
    ],
    cut: args.cut || (items !== undefined && items.count > 1),
  };
}

/** Arguments as JSON, of a limited length. */
export function argumentText(values: object | null): { text: string; cut: boolean } {
  const text = values === null || Object.keys(values).length === 0 ? '' : JSON.stringify(values);
  return text.length <= MAX_ARGUMENTS
    ? { text, cut: false }
    : { text: `${beginningOf(text, MAX_ARGUMENTS)}… (cut)`, cut: true };
}

function action({ kind, tool = '', host }: Effect): string {
  if (kind === 'agent') return 'runs an agent';
  if (kind === 'workflow') return 'starts a run of another workflow';
  if (host === undefined) return `runs the tool ${tool}`;
  return host === 'at_run_time'
    ? `calls a host that is known when it runs, with ${tool}`
    : `calls ${short(host)} with ${tool}`;
}

function certainty({ certainty: kind, conditions, executions }: Effect): string {
  const deciders = conditions.map(({ node_id: node, when, expression }) =>
    expression === undefined ? `${node} is ${when}` : `${expression} is ${when}`,
  );
  const when = deciders.length === 0 ? '' : `only if ${short(deciders.join('; '))}`;
  if (kind === 'certain') return 'always';
  if (kind === 'conditional') return when === '' ? 'not in every case' : when;
  const { min, max } = executions ?? { min: 0, max: null };
  const times = max === null ? `${min} times or more` : `${min} to ${max} times`;
  return `for each item, ${times}${when === '' ? '' : `; ${when}`}`;
}

const mayCall = ({ may_call: tools = [], approval }: Effect): string[] => [
  ...(approval === undefined ? [] : [`   It asks first if ${short(approval)}`]),
  ...(tools.length === 0
    ? []
    : [`   It can call ${short(tools.map(({ tool }) => tool).join(', '))}`]),
];

const short = (text: string): string =>
  text.length <= MAX_CONDITION ? text : `${beginningOf(text, MAX_CONDITION)}…`;
