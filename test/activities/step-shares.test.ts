import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { createStepShares, type StepShares } from '#activities/step-shares.ts';

const may = { always: false };

/** Takes slots until one is refused, and returns the functions that release them. */
function takeAll(shares: StepShares, workspaceId: string): (() => void)[] {
  const releases: (() => void)[] = [];
  for (;;) {
    const release = shares.take(workspaceId, may);
    if (release === undefined) return releases;
    releases.push(release);
  }
}

describe("the shares of the worker's step slots", () => {
  test('a single workspace holds half, and the next ones find room', () => {
    const shares = createStepShares(100);
    expect(takeAll(shares, 'a')).toHaveLength(50);
    expect(takeAll(shares, 'b')).toHaveLength(25);
    expect(takeAll(shares, 'c').length).toBeGreaterThanOrEqual(12);
    expect(takeAll(shares, 'd').length).toBeGreaterThanOrEqual(6);
  });

  test('two that release and take alternately hold a third each', () => {
    const shares = createStepShares(90);
    const held = { a: takeAll(shares, 'a'), b: takeAll(shares, 'b') };
    for (let n = 0; n < 200; n += 1) {
      for (const name of ['a', 'b'] as const) {
        held[name].pop()?.();
        held[name].push(...takeAll(shares, name));
      }
    }
    expect([held.a.length, held.b.length]).toEqual([30, 30]);
  });

  test('released slots can be taken again', () => {
    const shares = createStepShares(10);
    for (let n = 0; n < 3; n += 1) {
      const releases = takeAll(shares, 'a');
      expect(releases).toHaveLength(5);
      for (const release of releases) release();
    }
  });

  test('a worker with one slot gives each workspace one', () => {
    const shares = createStepShares(1);
    expect(takeAll(shares, 'a')).toHaveLength(1);
    expect(takeAll(shares, 'b')).toHaveLength(1);
  });

  test('a workspace counts as busy for a while after its last step', async () => {
    const shares = createStepShares(10);
    const busyBeside = (...ids: string[]) => shares.busyBeside(new Set(ids), 50);
    expect(busyBeside()).toBe(false);
    const end = shares.take('a', may);
    expect([busyBeside(), busyBeside('b'), busyBeside('a')]).toEqual([true, true, false]);
    await sleep(60);
    expect(busyBeside()).toBe(false);
    end?.();
    expect(busyBeside('b')).toBe(true);
  });

  test('a step without another queue is never refused', () => {
    const shares = createStepShares(2);
    for (let n = 0; n < 5; n += 1) expect(shares.take('a', { always: true })).toBeDefined();
    expect(shares.take('a', may)).toBeUndefined();
    expect(shares.take('b', may)).toBeDefined();
  });
});
