import { describe, expect, test } from '@jest/globals';
import { burnDown } from '#console/src/pages/money/burn-down-days.ts';
import { spentBefore, suggestedEstimate } from '#console/src/pages/money/spent-before.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const week = {
  window_start: '2026-11-16T00:00:00.000Z',
  window_end: '2026-11-23T00:00:00.000Z',
  limit_usd: 70,
};

describe('the burn-down of a budget', () => {
  test('shows the remainder of each day, and leaves future days open', () => {
    const days = [
      { date: '2026-11-16', spent_usd: 10 },
      { date: '2026-11-17', spent_usd: 0.1 },
      { date: '2026-11-18', spent_usd: 0.2 },
    ];
    const drawn = burnDown({ ...week, days }, 10.3, now);
    expect(drawn.map(({ date }) => date)).toEqual(
      [16, 17, 18, 19, 20, 21, 22].map((day) => `2026-11-${day}`),
    );
    expect(drawn.map(({ left }) => left)).toEqual([60, 59.9, 59.7, null, null, null, null]);
    expect(drawn.map(({ pace }) => Math.round(pace ?? NaN))).toEqual([60, 50, 40, 30, 20, 10, 0]);
  });

  test('goes below zero when spending exceeds the limit', () => {
    const days = [{ date: '2026-11-16', spent_usd: 100 }];
    expect(burnDown({ ...week, days }, 100, now)[0]).toMatchObject({ spent: 100, left: -30 });
  });

  test('starts with spending before the listed days, and has no pace without an end', () => {
    const days = [
      { date: '2026-11-17', spent_usd: 1 },
      { date: '2026-11-18', spent_usd: 2 },
    ];
    const total = { window_start: null, window_end: null, limit_usd: 100, days };
    expect(burnDown(total, 53, now)).toEqual([
      { date: '2026-11-17', spent: 1, left: 49, pace: null },
      { date: '2026-11-18', spent: 2, left: 47, pace: null },
    ]);
    expect(burnDown({ ...total, days: [] }, 0, now)).toEqual([
      { date: '2026-11-18', spent: 0, left: 100, pace: null },
    ]);
  });
});

describe('what was spent before a budget', () => {
  const day = (date: string, cost_usd: number, runs = 1) => ({ date, runs, cost_usd });
  // A Wednesday.
  const days = [
    day('2026-09-30', 1),
    day('2026-10-01', 2),
    day('2026-10-31', 4),
    day('2026-11-08', 8),
    day('2026-11-09', 16),
    day('2026-11-15', 32),
    day('2026-11-16', 64),
    day('2026-11-17', 128),
    day('2026-11-18', 256),
  ];

  test.each<[Parameters<typeof spentBefore>[1], number]>([
    ['month', 6],
    ['week', 48],
    ['day', 128],
    ['total', 511],
  ])('is that of the window before: %s', (window, spent) => {
    expect(spentBefore(days, window, now)).toBe(spent);
  });

  test('suggests the average cost of a run, up to the next cent', () => {
    expect(suggestedEstimate([day('2026-11-17', 0.1, 3), day('2026-11-18', 0, 1)])).toBe(0.03);
    expect(suggestedEstimate([day('2026-11-18', 0, 0)])).toBeUndefined();
  });
});
