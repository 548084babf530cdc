import type { BudgetHistory } from '#client/index.ts';

/** One day of a budget's window. `left` is null for future days, `pace` for a window without an end. */
export interface BurnDownDay {
  date: string;
  spent: number;
  left: number | null;
  pace: number | null;
}

const DAY_MS = 86_400_000;
/** The maximum number of days, because a longer chart is not useful. */
const MOST_DAYS = 366;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * The remaining budget at the end of each UTC day, from the first day to today, and an even pace that ends at zero.
 * `spent` is all settled spend of the window: spend before the listed days is subtracted at the start.
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

/** Removes floating-point errors from sums. */
const rounded = (dollars: number): number => Math.round(dollars * 1e6) / 1e6;
