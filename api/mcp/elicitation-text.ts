import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { PendingGate } from '#shared/contract/gates/pending-gate.ts';
import type { Stale } from '#shared/contract/gates/recheck.ts';
import type { Json } from '#shared/json.ts';

/** What a client shows at once. A longer question is read on the gate's page. */
const MAX_QUESTION = 12_000;

type Answer = GateConsequences['approve'];
type Effect = Answer['effects'][number];

export interface Shown {
  gate: PendingGate;
  workflow: string;
  consequences: GateConsequences;
  stale?: Stale | undefined;
  /** Why the person is asked again. */
  problem?: string | undefined;
}

/**
 * The question of a gate for a person, with everything that each answer sets in motion and its exact arguments. Undefined
 * if that is too long, or a list that is only shown in part: no one can approve what they cannot read.
 */
export function questionText(shown: Shown): string | undefined {
  const { gate, workflow, consequences, stale, problem } = shown;
  const { approve, reject, timeout } = consequences;
  const all = [approve, reject, ...(timeout === undefined ? [] : [timeout])];
  if (all.some(({ effects }) => effects.some(({ items }) => items !== undefined))) return undefined;
  const call = gate.tool_call;
  const text = [
    ...(problem === undefined ? [] : [problem, '']),
    `A run of the workflow ${quoted(workflow)} waits for your decision: ${gate.title}`,
    ...(call === undefined
      ? [gate.prompt]
      : [`It will call ${call.tool} with ${JSON.stringify(call.arguments)}`]),
    ...(stale === undefined ? [] : ['', ...staleLines(stale)]),
    '',
    ...answerLines(call === undefined ? 'If you approve' : 'After that call', approve),
    ...answerLines('If you reject', reject),
    ...(timeout === undefined ? [] : answerLines('If no one decides in time', timeout)),
  ].join('\n');
  return text.length > MAX_QUESTION ? undefined : visible(text);
}

/** What a person is asked who decides on the page of a gate. */
export const linkText = ({ title }: PendingGate, workflow: string): string =>
  visible(
    `A run of the workflow ${quoted(workflow)} waits for a decision: ${title}. It is made on a page of the service, not here.`,
  );

/** Characters that change how others are displayed are shown as their code. */
const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (found) =>
    found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function answerLines(when: string, { effects, next_gates: gates, more }: Answer): string[] {
  const further = [
    ...(gates.length === 0 ? [] : [`The next decision is at ${gates.join(', ')}.`]),
    ...(more === 0 ? [] : [`Up to ${more} more effects can follow after that.`]),
  ];
  if (effects.length === 0) return [[`${when}, nothing is executed.`, ...further].join(' ')];
  return [`${when}, these are executed:`, ...effects.map(effectLine), ...further];
}

function effectLine(effect: Effect): string {
  const { step_key, kind, tool, host, certainty, conditions, unknown, problem } = effect;
  const what = kind === 'tool' ? `${tool}${host === undefined ? '' : ` to ${host}`}` : kind;
  const facts = [
    `${what}, ${effect.effect}, ${certainty.replace('_', ' ')}`,
    ...conditions.map((each) => `if ${each.node_id} is ${each.when}`),
    ...(effect.may_call === undefined
      ? []
      : [`can call ${effect.may_call.map((each) => each.tool).join(', ') || 'no tool'}`]),
    ...(effect.approval === undefined ? [] : [`asks first if ${effect.approval}`]),
    `with ${JSON.stringify(effect.arguments)}`,
    ...unknown.map(({ path }) => `${path.join('.')} is not known yet`),
    ...(problem === undefined ? [] : [problem]),
  ];
  return `- ${step_key}: ${facts.join('; ')}`;
}

function staleLines({ differences, more }: Stale): string[] {
  const lines = differences.map(({ step_key, path, before, now, problem }) => {
    const place = [step_key, ...path].join('.');
    return problem === undefined
      ? `- ${place} was ${JSON.stringify(before)}, now ${JSON.stringify(now)}`
      : `- ${place}: ${problem}`;
  });
  return [
    'What this question is based on has changed. An approval still sends what is shown here, not the new values:',
    ...lines,
    ...(more === 0 ? [] : [`- ${more} more`]),
  ];
}

const quoted = (text: Json): string => JSON.stringify(text);
