import type { CancelEvent } from '#shared/contract/limits/limits.ts';
import { expressionRoots } from '#shared/graph/expression/expression.ts';
import { equalityOf } from '#shared/graph/waits/equality.ts';
import { EVENT } from '#shared/graph/waits/wait-call.ts';
import type { JsonObject } from '#shared/json.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';

/** The events that cancel a run, as stored with it. */
export interface CancelOn {
  /** What the matches read of its input. */
  state: JsonObject;
  /** `path` and `value`: what the event must have, to find it by an index; empty: every event of the name is compared. */
  entries: { name: string; match: string | null; path: string; value: string }[];
}

/** The events that cancel a run with this input; undefined if there are none. */
export function cancelOnOf(
  events: readonly CancelEvent[],
  input: JsonObject,
): CancelOn | undefined {
  if (events.length === 0) return undefined;
  const read = events
    .flatMap(({ match }) => (match === null ? [] : expressionRoots(match)))
    .filter((key) => key !== EVENT && Object.hasOwn(input, key));
  const state = Object.fromEntries(read.map((key) => [key, input[key]!]));
  // An equality that takes longer to compute is not indexed.
  const budget = { work: SMALL_WORK };
  const entries = events.map(({ event: name, match }) => {
    const equality = match === null ? undefined : equalityOf(match, state, budget);
    return { name, match, path: equality?.path ?? '', value: equality?.value ?? '' };
  });
  return { state, entries };
}
