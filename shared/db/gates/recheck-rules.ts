import type { RecheckDifference } from '#shared/contract/gates/recheck.ts';
import { AppError } from '#shared/errors.ts';
import type { Json } from '#shared/json.ts';
import { storedTime } from '#shared/time.ts';
import type { Decision } from './decision.ts';
import type { GateToDecide } from './gate-to-decide.ts';
import { startOf, type StoredRecheck } from './rechecks.ts';

/** The maximum number of differences in an audit entry, and the longest text of a value there. */
const MAX_AUDITED = 20;
const MAX_AUDITED_TEXT = 200;
/** How many differences the message names, and the longest text of a value in it. */
const MAX_NAMED = 3;
const MAX_NAMED_TEXT = 80;

/**
 * Whether the reads of the gate must be repeated before the approval counts. Throws AppError `changed` when they were
 * repeated for this decision and differ.
 */
export function needsRecheck(decision: Decision, gate: GateToDecide): boolean {
  if (!rechecks(decision, gate)) return false;
  if (acceptedChanges(decision, gate) !== undefined) return false;
  const last = lastFor(decision, gate);
  if (last === undefined || last.id !== decision.rechecked) return true;
  if (last.differences.length > 0) throw changed(gate.step_key, last);
  return false;
}

/**
 * The differences that the approver accepts. Only those that the gate showed before the request: no one can accept what
 * they have not seen.
 */
export function acceptedChanges(
  decision: Decision,
  gate: GateToDecide,
): RecheckDifference[] | undefined {
  if (!rechecks(decision, gate)) return undefined;
  if (decision.accept_changes !== true || decision.rechecked !== undefined) return undefined;
  const { differences = [] } = lastFor(decision, gate) ?? {};
  return differences.length === 0 ? undefined : differences;
}

/** The differences as the audit log has them. */
export const auditedChanges = (differences: readonly RecheckDifference[]): Json[] =>
  differences.slice(0, MAX_AUDITED).map(({ step_key, path, before, now, problem }) => ({
    ...{ step_key, path },
    ...(problem === undefined
      ? { before: shortened(before, MAX_AUDITED_TEXT), now: shortened(now, MAX_AUDITED_TEXT) }
      : { problem }),
  }));

const rechecks = ({ approved }: Decision, { kind, settings }: GateToDecide): boolean =>
  approved && kind === 'human_gate' && (settings?.recheck ?? false) !== false;

type Finished = StoredRecheck & Required<Pick<StoredRecheck, 'finished_at' | 'differences'>>;

export const isFinished = (recheck: StoredRecheck): recheck is Finished =>
  recheck.finished_at !== undefined && recheck.differences !== undefined;

/** The last recheck, if it was for what this decision sets in motion. */
function lastFor({ shown }: Decision, { recheck, digest }: GateToDecide): Finished | undefined {
  if (recheck === null || !isFinished(recheck)) return undefined;
  return recheck.digest === (shown?.digest ?? digest) ? recheck : undefined;
}

function changed(stepKey: string, { differences, more = 0, finished_at }: Finished): AppError {
  const named = differences.slice(0, MAX_NAMED).map(nameOf);
  const others = differences.length + more - named.length;
  const what = [...named, ...(others > 0 ? [`${others} more`] : [])].join('; ');
  const stale = { at: storedTime(finished_at), differences, more };
  return new AppError(
    'changed',
    `What gate '${stepKey}' shows has changed (${what}): reject it, or approve it with accept_changes`,
    { stale },
  );
}

function nameOf({ step_key, path, before, now, problem }: RecheckDifference): string {
  const place = [step_key, ...path].join('.');
  if (problem !== undefined) return `${place}: ${problem}`;
  return `${place} was ${textOf(before)}, now ${textOf(now)}`;
}

const textOf = (value: Json): string => cut(JSON.stringify(value), MAX_NAMED_TEXT);

const cut = (text: string, most: number): string =>
  text.length > most ? startOf(text, most) : text;

function shortened(value: Json, most: number): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > most ? cut(text, most) : value;
}
