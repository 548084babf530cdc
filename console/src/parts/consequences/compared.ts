import type { AnswerConsequences, Effect } from '#client/index.ts';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { type ArgumentRow, argumentRows } from './argument-rows.ts';
import { actionText, certaintyText, costText } from './effect-texts.ts';

/** A value among the arguments, and the one it had in the other list, if that differs. */
export interface ComparedRow extends ArgumentRow {
  /** Null: the other list has no such value. */
  before?: ArgumentRow | null;
  /** Only the other list has it. */
  removed?: true;
}

/** An effect of a list, with how it differs from the other list. */
export interface ComparedEffect {
  effect: Effect;
  mark?: 'added' | 'changed' | 'removed';
  /** As it is in the other list, if it has changed. */
  before?: Effect;
  /** Undefined for a reader who cannot see the arguments. */
  rows: ComparedRow[] | undefined;
}

/**
 * The effects of an answer: writes, then reads, each in the order of the list. With `before`, what differs from that list
 * is marked, and what only that list has comes last.
 */
export function comparedEffects(
  { effects }: AnswerConsequences,
  before: AnswerConsequences | undefined,
): ComparedEffect[] {
  if (before === undefined) {
    return ordered(effects.map((effect) => ({ effect, rows: rowsOf(effect) })));
  }
  const earlier = new Map(before.effects.map((effect) => [keyOf(effect), effect]));
  const compared = effects.map((effect) => comparedEffect(effect, earlier.get(keyOf(effect))));
  const kept = new Set(effects.map(keyOf));
  const removed = before.effects
    .filter((effect) => !kept.has(keyOf(effect)))
    .map((effect) => ({ effect, mark: 'removed' as const, rows: rowsOf(effect) }));
  return ordered([...compared, ...removed]);
}

const ordered = (effects: readonly ComparedEffect[]): ComparedEffect[] =>
  (['write', 'read'] as const).flatMap((kind) =>
    effects.filter(({ effect }) => effect.effect === kind),
  );

/** Identifies an effect within a list. */
export const keyOf = ({ node_id, step_key }: Effect): string => `${node_id} ${step_key}`;

const rowsOf = ({ arguments: given, unknown }: Effect): ArgumentRow[] | undefined =>
  given === null ? undefined : argumentRows(given, unknown);

function comparedEffect(effect: Effect, before: Effect | undefined): ComparedEffect {
  const rows = rowsOf(effect);
  if (before === undefined) return { effect, mark: 'added', rows };
  const compared = rows && comparedRows(rows, rowsOf(before) ?? []);
  const differs = [actionText, certaintyText, costText, problemOf, callsOf].some(
    (part) => part(effect) !== part(before),
  );
  const changed = differs || compared?.some(isChanged) === true;
  return changed ? { effect, mark: 'changed', before, rows: compared } : { effect, rows };
}

const problemOf = ({ problem }: Effect): string | undefined => problem;
const callsOf = ({ effect, approval = '', may_call: calls = [] }: Effect): string =>
  [effect, approval, ...calls.map(({ tool, approval }) => `${tool} ${approval}`)].join('\n');

const isChanged = ({ before, removed }: ComparedRow): boolean =>
  before !== undefined || removed === true;

function comparedRows(
  rows: readonly ArgumentRow[],
  earlier: readonly ArgumentRow[],
): ComparedRow[] {
  const before = new Map(earlier.map((row) => [row.path, row]));
  const paths = new Set(rows.map(({ path }) => path));
  return [
    ...rows.map((row) => {
      const was = before.get(row.path);
      return was !== undefined && same(was, row) ? row : { ...row, before: was ?? null };
    }),
    ...earlier
      .filter(({ path }) => !paths.has(path))
      .map((row) => ({ ...row, removed: true as const })),
  ];
}

const same = (one: ArgumentRow, other: ArgumentRow): boolean =>
  exactJson([one.value, one.reads ?? null]) === exactJson([other.value, other.reads ?? null]);
