import { describe, expect, jest, test } from '@jest/globals';
import { createClock } from '../../console/src/parts/text/now.ts';

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
