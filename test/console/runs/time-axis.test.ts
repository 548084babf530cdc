import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { axisOf, roundStep } from '#console/src/pages/runs/timeline/time-axis.ts';
import { timelineOf } from '#console/src/pages/runs/timeline/timeline.ts';
import { at, BEGIN, run, step } from './run-samples.ts';

const MINUTE = 60_000;

describe('the time axis of a run', () => {
  test('collapses a long wait between steps and labels its length', () => {
    const steps = [
      step({ node_id: 'a', started_at: at(0), finished_at: at(1_000) }),
      step({
        node_id: 'gate',
        kind: 'human_gate',
        started_at: at(1_000),
        finished_at: at(1_000 + 60 * MINUTE),
      }),
      step({
        node_id: 'b',
        started_at: at(1_000 + 60 * MINUTE),
        finished_at: at(2_000 + 60 * MINUTE),
      }),
    ];
    const timeline = timelineOf(run(steps, { finished_at: at(2_000 + 60 * MINUTE) }), 0);
    const axis = axisOf(timeline);
    expect(axis.breaks).toHaveLength(1);
    expect(axis.breaks[0]!.label).toBe('1 h');
    expect(axis.shareOf(BEGIN + 1_000)).toBeCloseTo(1_000 / 2_300, 5);
    expect(axis.shareOf(BEGIN + 1_000 + 60 * MINUTE)).toBeCloseTo(1_300 / 2_300, 5);
    expect(axis.ticks.map(({ label }) => label)).toContain('500 ms');
  });

  test('is not broken by a short wait, or without other work', () => {
    const short = [
      step({ node_id: 'a', started_at: at(0), finished_at: at(1_000) }),
      step({ node_id: 'b', started_at: at(1_200), finished_at: at(2_000) }),
    ];
    expect(axisOf(timelineOf(run(short, { finished_at: at(2_000) }), 0)).breaks).toEqual([]);
    const only = [
      step({ node_id: 'gate', kind: 'human_gate', started_at: at(0), finished_at: null }),
    ];
    expect(axisOf(timelineOf(run(only), BEGIN + 60 * MINUTE)).breaks).toEqual([]);
  });

  test('has no label twice after a long wait', () => {
    const steps = [
      step({ node_id: 'a', started_at: at(0), finished_at: at(1) }),
      step({ node_id: 'b', started_at: at(15_200), finished_at: at(15_400) }),
    ];
    const { ticks } = axisOf(timelineOf(run(steps, { finished_at: at(15_400) }), 0));
    const labels = ticks.map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
  });

  test('has ticks at round numbers', () => {
    expect([1, 3, 71, 357, 714, 900, 3_100, 95_000].map(roundStep)).toEqual([
      1, 5, 100, 500, 1_000, 1_000, 5_000, 120_000,
    ]);
    const one = [step({ node_id: 'a', started_at: at(0), finished_at: at(1_428) })];
    const { ticks } = axisOf(timelineOf(run(one, { finished_at: at(1_428) }), 0));
    expect(ticks.map(({ label }) => label)).toEqual(['0', '500 ms', '1.0 s']);
  });

  test('maps times in order from 0 to 1, for any steps', () => {
    const anyStep = fc
      .record({
        kind: fc.constantFrom('tool' as const, 'human_gate' as const),
        started: fc.integer({ min: 0, max: 10_000_000 }),
        took: fc.integer({ min: 0, max: 10_000_000 }),
      })
      .map(({ kind, started, took }) =>
        step({ node_id: 'a', kind, started_at: at(started), finished_at: at(started + took) }),
      );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 8 }), (steps) => {
        const timeline = timelineOf(run(steps, { finished_at: at(20_000_000) }), 0);
        const { shareOf, ticks, breaks } = axisOf(timeline);
        const moments = Array.from({ length: 21 }, (_, n) => shareOf(BEGIN + n * 1_000_000));
        expect([...moments].sort((a, b) => a - b)).toEqual(moments);
        expect(moments[0]).toBe(0);
        expect(moments.at(-1)).toBeCloseTo(1, 6);
        for (const { share } of ticks) expect(share).toBeLessThanOrEqual(1);
        for (const { from, to } of breaks) expect(to).toBeGreaterThan(from);
      }),
    );
  });
});
