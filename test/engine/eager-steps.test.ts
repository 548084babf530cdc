import { expect, test } from '@jest/globals';
import { mock, useEngine } from '#test/support/engine.ts';
import { fetchHistory } from './histories.ts';

const engine = useEngine();

test('a step starts in the transaction that schedules it', async () => {
  const ids = Array.from({ length: 8 }, (_, n) => `n${n}`);
  const runId = await engine.trigger(
    await engine.define({
      nodes: ids.map((id) => mock(id, { output: id, delay_ms: 1 })),
      edges: ids.slice(1).map((id, n) => ({ source: ids[n]!, target: id })),
    }),
  );
  await engine.until(runId, ['success']);
  const { events } = await fetchHistory(engine, runId);
  const at = ({ eventTime: time }: (typeof events & object)[number]): number =>
    Number(time!.seconds) * 1e3 + time!.nanos! / 1e6;
  const scheduled = new Map(
    events!
      .filter((event) => event.activityTaskScheduledEventAttributes != null)
      .map((event) => [String(event.eventId), at(event)]),
  );
  const delays = events!.flatMap((event) => {
    const started = event.activityTaskStartedEventAttributes;
    return started == null ? [] : [at(event) - scheduled.get(String(started.scheduledEventId))!];
  });
  expect(delays).toHaveLength(ids.length);
  // A dispatch is a transaction and a round trip, and takes at least a millisecond.
  expect(Math.min(...delays)).toBeLessThan(0.5);
});
