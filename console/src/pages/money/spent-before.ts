import type { Budget, UsageBreakdown } from '#client/index.ts';

const DAY_MS = 86_400_000;
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** What was spent in the window before the present one, in UTC; for `total`, on all these days. `now` in ms. */
export function spentBefore(
  days: UsageBreakdown['by_day'],
  window: Budget['window'],
  now: number,
): number {
  const [from, to] = before(window, now);
  return days
    .filter(({ date }) => date >= from && date < to)
    .reduce((sum, { cost_usd: cost }) => sum + cost, 0);
}

/** The first day of the window, and the first one after it. */
function before(window: Budget['window'], now: number): [string, string] {
  const today = new Date(now);
  switch (window) {
    case 'day':
      return [dateOf(now - DAY_MS), dateOf(now)];
    case 'week': {
      const monday = now - ((today.getUTCDay() + 6) % 7) * DAY_MS;
      return [dateOf(monday - 7 * DAY_MS), dateOf(monday)];
    }
    case 'month': {
      const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()];
      return [dateOf(Date.UTC(year, month - 1)), dateOf(Date.UTC(year, month))];
    }
    case 'total':
      return ['', dateOf(now + DAY_MS)];
  }
}

/** The average cost of a run, up to the next cent; undefined if no run has cost anything. */
export function suggestedEstimate(days: UsageBreakdown['by_day']): number | undefined {
  const cost = days.reduce((sum, day) => sum + day.cost_usd, 0);
  const runs = days.reduce((sum, day) => sum + day.runs, 0);
  return cost === 0 ? undefined : Math.ceil((100 * cost) / runs) / 100;
}
