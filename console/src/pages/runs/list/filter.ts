import type { RunFilter } from '#console/src/queries/runs.ts';
import { failureKinds, runStatuses, triggers } from '#shared/contract/runs/run-kinds.ts';
import { wordsIn } from '#shared/values/words.ts';

/** The filters of the list in the URL, with the names and values of the API. */
const names = [
  'q',
  'status',
  'failure_kind',
  'trigger',
  'workflow_id',
  'version',
  'since',
  'until',
  'min_cost_usd',
  'max_cost_usd',
  'min_duration_ms',
  'max_duration_ms',
  'mode',
  'parent_run_id',
] as const;

export type FilterName = (typeof names)[number];
export type RunSearch = { [Name in FilterName]?: string | undefined };

/** The router parses `q=4711` as a number. */
const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number'
    ? String(value)
    : undefined;

/** A name can have several values, as in the API: `status=running&status=paused`. */
const textsOf = (value: unknown): string | undefined =>
  Array.isArray(value) ? value.flatMap((each) => textOf(each) ?? []).join(',') : textOf(value);

export const readRunSearch = (search: Record<string, unknown>): RunSearch =>
  Object.fromEntries(names.map((name) => [name, textsOf(search[name])]));

const oneOf = <Value extends string>(values: readonly Value[], text: string | undefined) =>
  values.find((value) => value === text);
const matching = (pattern: RegExp, text: string | undefined) =>
  text !== undefined && pattern.test(text) ? text : undefined;
const numberIn = (pattern: RegExp, text: string | undefined) => {
  const found = matching(pattern, text);
  return found === undefined ? undefined : Number(found);
};

const DATE = /^\d{4}-\d{2}-\d{2}/;
const WHOLE = /^\d{1,12}$/;
const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;

export const statusesIn = (text: string | undefined) =>
  runStatuses.filter((status) => text?.split(',').includes(status));

/** The value of `mode` in the URL for a list that contains rehearsals, too. */
export const ALL_MODES = 'all';

/** The runs to list: without rehearsals, unless the URL asks for them or for the runs that one run started. */
export function listedRuns(search: RunSearch): RunFilter {
  const filter = runFilterOf(search);
  const asked = search.mode === ALL_MODES || filter.parent_run_id !== undefined;
  return { ...filter, mode: filter.mode ?? (asked ? undefined : 'live') };
}

/** The filters in use. Invalid values, as in an old or edited link, are left out. */
export function runFilterOf(search: RunSearch): RunFilter {
  const statuses = statusesIn(search.status);
  return {
    q: search.q !== undefined && wordsIn(search.q).length > 0 ? search.q : undefined,
    status: statuses.length === 0 ? undefined : statuses,
    failure_kind: oneOf(failureKinds, search.failure_kind),
    trigger: oneOf(triggers, search.trigger),
    workflow_id: search.workflow_id,
    version: numberIn(WHOLE, search.version) || undefined,
    since: matching(DATE, search.since),
    until: matching(DATE, search.until),
    min_cost_usd: numberIn(AMOUNT, search.min_cost_usd),
    max_cost_usd: numberIn(AMOUNT, search.max_cost_usd),
    min_duration_ms: numberIn(WHOLE, search.min_duration_ms),
    max_duration_ms: numberIn(WHOLE, search.max_duration_ms),
    mode: oneOf(['live', 'recorded'], search.mode),
    parent_run_id: search.parent_run_id,
  };
}
