import { describe, expect, jest, test } from '@jest/globals';
import { createClock } from '#console/src/parts/text/now.ts';
import { agoText, localTime, timeText } from '#console/src/parts/text/times.ts';

describe('the clock of relative times', () => {
  test('is current for the first subscriber after a pause', () => {
    jest.useFakeTimers();
    try {
      let time = 1_000;
      const clock = createClock(10, () => time);
      const stop = clock.subscribe(() => undefined);
      stop();
      time = 500_000;
      jest.advanceTimersByTime(100);
      expect(clock.now()).toBe(1_000);
      clock.subscribe(() => undefined);
      expect(clock.now()).toBe(500_000);
    } finally {
      jest.useRealTimers();
    }
  });

  test('notifies all subscribers until they unsubscribe', () => {
    jest.useFakeTimers();
    try {
      let time = 0;
      const clock = createClock(10, () => time);
      const told: string[] = [];
      const stopA = clock.subscribe(() => told.push('a'));
      clock.subscribe(() => told.push('b'));
      time = 10;
      jest.advanceTimersByTime(10);
      stopA();
      jest.advanceTimersByTime(10);
      expect(told).toEqual(['a', 'b', 'b']);
      expect(clock.now()).toBe(10);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the texts of times', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;

  test.each([
    [-1_000, 'just now'],
    [5_000, 'just now'],
    [30_000, 'in a moment'],
    [-MINUTE, '1 minute ago'],
    [-119_000, '1 minute ago'],
    [-HOUR, '1 hour ago'],
    [-23 * HOUR, '23 hours ago'],
    [-47 * HOUR, '1 day ago'],
    [-48 * HOUR, '2 days ago'],
    [25 * HOUR, 'in 1 day'],
  ])('count whole units of %d ms', (ms, text) => {
    expect(agoText(ms)).toBe(text);
  });

  test('use a 24-hour clock, like the fields of forms', () => {
    const at = new Date(2026, 10, 25, 17, 4, 9);
    expect(timeText(at.getTime())).toMatch(/^Nov 25, 2026, 17:04:09 \S+$/);
    expect(timeText(at.toISOString())).toBe(timeText(at.getTime()));
    expect(localTime(at.getTime())).toBe('2026-11-25T17:04');
    expect(timeText(new Date(2026, 10, 25).getTime())).toMatch(/^Nov 25, 2026, 00:00:00 \S+$/);
  });
});
