import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Step } from '#client/index.ts';
import { figuresOf, timelineOf, wallParts } from '#console/src/pages/runs/timeline/timeline.ts';
import { at, BEGIN, run, step } from './run-samples.ts';

const sumOf = (parts: Record<string, number>): number =>
  wallParts.reduce((sum, part) => sum + (parts[part] ?? NaN), 0);

describe('the timeline of a run', () => {
  test('separates queued, retrying and working time', () => {
    const tried = step({
      node_id: 'a',
      started_at: at(30),
      finished_at: at(130),
      duration_ms: 100,
      queued_ms: 20,
      retried_ms: 60,
      attempt: 2,
    });
    const { bars, parts, from, to } = timelineOf(run([tried], { finished_at: at(150) }), 0);
    expect(figuresOf(bars[0]!)).toEqual([
      { phase: 'queued', ms: 20 },
      { phase: 'retrying', ms: 60 },
      { phase: 'working', ms: 40 },
    ]);
    expect(parts).toEqual({ working: 40, retrying: 60, queued: 20, waiting: 0, idle: 30 });
    expect([from - BEGIN, to - BEGIN]).toEqual([0, 150]);
  });

  test('counts parallel steps once', () => {
    const steps = [
      step({ node_id: 'a', started_at: at(0), finished_at: at(80) }),
      step({ node_id: 'b', started_at: at(20), finished_at: at(100), queued_ms: 20 }),
    ];
    const { parts } = timelineOf(run(steps, { finished_at: at(100) }), 0);
    expect(parts).toEqual({ working: 100, retrying: 0, queued: 0, waiting: 0, idle: 0 });
  });

  test('counts a gate as waiting only while nothing else runs', () => {
    const steps = [
      step({ node_id: 'gate', kind: 'human_gate', started_at: at(0), finished_at: at(1000) }),
      step({ node_id: 'a', started_at: at(100), finished_at: at(300) }),
    ];
    const { parts } = timelineOf(run(steps, { finished_at: at(1000) }), 0);
    expect(parts).toEqual({ working: 200, retrying: 0, queued: 0, waiting: 800, idle: 0 });
  });

  test('counts the steps in a loop instead of the loop', () => {
    const steps = [
      step({ node_id: 'loop', kind: 'loop', started_at: at(0), finished_at: at(500) }),
      step({ node_id: 'a', iteration: [1], started_at: at(0), finished_at: at(100) }),
      step({ node_id: 'a', iteration: [2], started_at: at(200), finished_at: at(300) }),
    ];
    const { bars, parts } = timelineOf(run(steps, { finished_at: at(500) }), 0);
    expect(figuresOf(bars[0]!)).toEqual([{ phase: 'iterations', ms: 500 }]);
    expect(parts).toEqual({ working: 200, retrying: 0, queued: 0, waiting: 0, idle: 300 });
  });

  test('extends to now while the run is active, or to the service clock if that is ahead', () => {
    const open = step({ node_id: 'a', status: 'running', started_at: at(50), finished_at: null });
    const now = timelineOf(run([open]), BEGIN + 200);
    expect(now.to - BEGIN).toBe(200);
    expect(now.parts.working).toBe(150);
    const behind = timelineOf(run([open]), BEGIN - 10_000);
    expect(behind.to - BEGIN).toBe(50);
    expect(sumOf(behind.parts)).toBe(50);
  });

  test('has no bar for skipped steps, and treats a run without steps as idle', () => {
    const skipped = step({ node_id: 'a', status: 'skipped' });
    expect(timelineOf(run([skipped]), BEGIN + 10).bars[0]?.spans).toEqual([]);
    expect(timelineOf(run([]), BEGIN + 10).parts.idle).toBe(10);
  });

  test('has parts that add up to the wall time, for any steps', () => {
    const anyStep = fc
      .record({
        started: fc.integer({ min: -500, max: 5_000 }),
        took: fc.option(fc.integer({ min: 0, max: 5_000 })),
        queued_ms: fc.option(fc.integer({ min: 0, max: 2_000 })),
        retried_ms: fc.option(fc.integer({ min: 0, max: 6_000 })),
        kind: fc.constantFrom<Step['kind'][]>('agent', 'tool', 'loop', 'human_gate', 'condition'),
        status: fc.constantFrom<Step['status'][]>('success', 'failed', 'skipped', 'cancelled'),
      })
      .map(({ started, took, ...rest }) =>
        step({
          node_id: 'n',
          started_at: at(started),
          finished_at: took === null ? null : at(started + took),
          ...rest,
        }),
      );
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 30 }),
        fc.option(fc.integer({ min: 0, max: 6_000 })),
        (steps, end) => {
          const finished = end === null ? null : at(end);
          const { from, to, bars, parts } = timelineOf(
            run(steps, { finished_at: finished }),
            BEGIN + 3_000,
          );
          expect(sumOf(parts)).toBe(to - from);
          for (const part of wallParts) expect(parts[part]).toBeGreaterThanOrEqual(0);
          for (const { spans } of bars) {
            for (const span of spans) {
              expect(span.from).toBeGreaterThanOrEqual(from);
              expect(span.to).toBeLessThanOrEqual(to);
              expect(span.to).toBeGreaterThan(span.from);
            }
          }
        },
      ),
    );
  });
});
