import type { BudgetHistory } from '../../../../client/index.ts';

/** One day of a budget's window. `left` is null on days that are still to come, `pace` where there is no end. */
export interface BurnDownDay {
  date: string;
  spent: number;
  left: number | null;
  pace: number | null;
}

const DAY_MS = 86_400_000;
/** Beyond this a chart of days says nothing more. */
const MOST_DAYS = 366;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * What was left of a budget at the end of each UTC day from the first to today, and of an even pace that would end at
 * zero. `spent` is all that is settled in the window: what lies before the days listed is taken off at the start.
 */
export function burnDown(history: BudgetHistory, spent: number, now: number): BurnDownDay[] {
  const byDate = new Map(history.days.map((day) => [day.date, day.spent_usd]));
  const listed = history.days.reduce((sum, day) => sum + day.spent_usd, 0);
  const today = dateOf(now);
  const first = history.window_start?.slice(0, 10) ?? history.days[0]?.date ?? today;
  const end = history.window_end === null ? undefined : Date.parse(history.window_end);
  const last = end === undefined ? today : dateOf(end - 1);
  const start = Date.parse(first);
  const length = Math.min(Math.round((Date.parse(last) - start) / DAY_MS) + 1, MOST_DAYS);

  let left = history.limit_usd - (spent - listed);
  return Array.from({ length }, (_, index) => {
    const date = dateOf(start + index * DAY_MS);
    const daySpent = byDate.get(date) ?? 0;
    left -= daySpent;
    const pace = end === undefined ? null : history.limit_usd * (1 - (index + 1) / length);
    return { date, spent: daySpent, left: date > today ? null : rounded(left), pace };
  });
}

/** Without the crumbs of adding decimals. */
const rounded = (dollars: number): number => Math.round(dollars * 1e6) / 1e6;
