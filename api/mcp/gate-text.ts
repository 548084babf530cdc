import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { Gate } from '#shared/contract/gates/gate.ts';

type Answer = GateConsequences['approve'];
type Effect = Answer['effects'][number];

/** The effects that the text names. */
const MAX_NAMED = 20;

/** What the answers to an open gate set in motion, and what to do next, in sentences for a model. */
export function gateText({ status, kind, consequences, digest }: Gate): string | undefined {
  if (status !== 'open') return undefined;
  const isCall = kind === 'tool_call';
  if (consequences === null) return 'It is not known what an answer to this gate sets in motion.';
  const { approve, reject, timeout } = consequences;
  return [
    ...(isCall ? ['If it is approved, the call is sent with exactly its arguments.'] : []),
    `${isCall ? 'After that' : 'If it is approved'}, ${answerText(approve)}`,
    `If it is rejected, ${answerText(reject)}`,
    ...(timeout === undefined ? [] : [`If no one decides in time, ${answerText(timeout)}`]),
    digest === null
      ? 'The caller cannot decide gates, so arguments are not shown.'
      : `Show the person each effect with its arguments, and say what is not known yet. Then call approve_run with digest ${digest}: ` +
        `the decision counts only for ${isCall ? 'this call' : 'these effects'}.`,
  ].join('\n');
}

function answerText({ effects, more, next_gates: gates }: Answer): string {
  const named = effects.slice(0, MAX_NAMED).map(effectText);
  const others = effects.length - named.length;
  const done =
    effects.length === 0
      ? 'nothing is executed.'
      : `these are executed: ${named.join('; ')}${others > 0 ? `; and ${others} more` : ''}.`;
  return [
    done,
    ...(gates.length === 0 ? [] : [`The next decision is at ${gates.join(', ')}.`]),
    ...(more === 0 ? [] : [`Up to ${more} more effects can follow after that.`]),
  ].join(' ');
}

function effectText({ step_key, kind, tool, host, effect, certainty, unknown }: Effect): string {
  const facts = [
    kind === 'tool' ? `${tool}${host === undefined ? '' : ` to ${host}`}` : kind,
    effect,
    certainty.replace('_', ' '),
    ...unknown.map(({ path }) => `${path.join('.')} not known yet`),
  ];
  return `${step_key} (${facts.join(', ')})`;
}
