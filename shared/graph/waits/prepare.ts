import type { WaitNode } from '#shared/contract/workflows/graph.ts';
import { expressionRoots } from '#shared/graph/expression/expression.ts';
import { renderTemplate } from '#shared/graph/expression/template.ts';
import type { JsonObject } from '#shared/json.ts';
import { parseSeconds } from '#shared/tools.ts';
import { timeOf } from '#shared/values/iso-time.ts';
import { type AwaitedEvent, EVENT, type WaitsFor } from './wait-call.ts';

/**
 * What a step waits for, with its templates resolved. Throws Error when one cannot be rendered with the state, or gives
 * no time.
 */
export function waitsFor(node: WaitNode, state: JsonObject): WaitsFor {
  const { seconds, until, event, any = [], callback, timeout_seconds } = node;
  if (seconds !== undefined) return { for: 'time', seconds: secondsOf(seconds, state) };
  if (until !== undefined) return { for: 'time', until_ms: timeOf(renderTemplate(until, state)) };
  const timeout = timeout_seconds === undefined ? {} : { timeout_seconds };
  if (callback === true) return { for: 'callback', ...timeout };
  const events = event === undefined ? any : [event];
  return { for: 'event', events: events.map((each) => withState(each, state)), ...timeout };
}

function secondsOf(given: string | number, state: JsonObject): number {
  const parsed = parseSeconds(typeof given === 'string' ? renderTemplate(given, state) : given);
  if ('error' in parsed) throw new Error(`seconds ${parsed.error}`);
  return parsed.seconds;
}

/** The state is sent, because an event can come much later. */
function withState(
  { name, match }: NonNullable<WaitNode['event']>,
  state: JsonObject,
): AwaitedEvent {
  if (match === undefined) return { name };
  const read = expressionRoots(match).filter((key) => key !== EVENT && Object.hasOwn(state, key));
  return { name, match, state: Object.fromEntries(read.map((key) => [key, state[key]!])) };
}
