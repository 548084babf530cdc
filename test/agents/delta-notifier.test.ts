import { expect, test } from '@jest/globals';
import { createDeltaNotifier } from '../../activities/agents/delta-notifier.ts';
import type { Pool } from '../../shared/db/pool.ts';
import { createLogger } from '../../shared/platform/logger.ts';

const delta = (text: string) => ({ run_id: 'run_1', step_key: 'ask', turn: 1, text });

test('what is written after a flush comes after the pieces before it', async () => {
  const sent: string[] = [];
  const held: (() => void)[] = [];
  const query = (statement: { values: unknown[] }) =>
    new Promise<void>((resolve) => {
      held.push(() => {
        sent.push(JSON.stringify(statement.values));
        resolve();
      });
    });
  const log = createLogger({ name: 'test', level: 'silent' });
  const deltas = createDeltaNotifier({ query } as unknown as Pool, log);
  deltas.push(delta('one '));
  await Promise.resolve();
  deltas.push(delta('two'));
  let flushed = false;
  const flush = deltas.flush().then(() => (flushed = true));
  while (held.length === 0) await new Promise(setImmediate);
  expect(flushed).toBe(false);
  held.shift()!();
  while (held.length === 0 && !flushed) await new Promise(setImmediate);
  held.shift()?.();
  await flush;
  expect(sent.join()).toMatch(/one .*two/s);
  await deltas.close();
  expect(held).toEqual([]);
});
