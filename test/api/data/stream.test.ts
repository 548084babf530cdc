import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { startApiProcess, type TestApi } from '#test/support/processes.ts';
import { soakTest } from '#test/support/soak.ts';

let engine: Engine;
let api: TestApi;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
  // A small heap forces V8 to collect garbage, so that the process size shows the memory in use.
  api = await startApiProcess({ ...engine.env, NODE_OPTIONS: '--max-old-space-size=100' });
}, 60_000);
afterAll(async () => {
  await api.stop();
  await engine.close();
});

const makeFeed = async (): Promise<string> => {
  const answer = await fetch(`${api.url}/api/data/feeds`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Streamed' }),
  });
  return ((await answer.json()) as { id: string }).id;
};

function* lines(count: number, prefix = 'k'): Generator<string> {
  const filler = 'x'.repeat(1_000);
  for (let n = 0; n < count; n += 1) {
    const record = {
      type: 'entity',
      external_key: `${prefix}${n}`,
      entity_type: 'project',
      canonical_name: `Project ${n}`,
      attributes: { n, filler },
    };
    yield `${JSON.stringify(record)}\n`;
  }
}

const send = async (feedId: string, body: Readable): Promise<{ status: number; body: any }> =>
  new Promise((resolve, reject) => {
    const url = `${api.url}/api/data/ingest?feed_id=${feedId}`;
    const headers = { 'content-type': 'application/x-ndjson' };
    const sending = request(url, { method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }));
    });
    sending.on('error', reject);
    body.on('error', (error) => sending.destroy(error)).pipe(sending);
  });

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))?.[1]) / 1024;
const countOf = async (feedId: string): Promise<number> =>
  engine.db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM data_entities WHERE feed_id = ${feedId}`);

/** The peak memory of the process while the stream was sent, in MB. */
const peakDuring = async (sending: Promise<unknown>): Promise<number> => {
  let peak = residentMb();
  const watch = setInterval(() => (peak = Math.max(peak, residentMb())), 20);
  await sending.finally(() => clearInterval(watch));
  return peak;
};

soakTest('a stream of 50,000 lines needs no more memory than one of 10,000', 300_000, async () => {
  const feedId = await makeFeed();
  const short = await peakDuring(send(feedId, Readable.from(lines(10_000, 'first'))));
  const sending = send(feedId, Readable.from(lines(50_000)));
  const long = await peakDuring(sending);
  expect(await sending).toMatchObject({ status: 200, body: { created: 50_000, refused: 0 } });
  // The additional text alone is 45 MB.
  expect(long - short).toBeLessThan(30);
});

test('an aborted stream keeps its complete batches, is audited, and can be sent again', async () => {
  const feedId = await makeFeed();
  const broken = async function* () {
    yield* lines(1_700);
    await eventually(async () => (await countOf(feedId)) === 1_500);
    throw new Error('the sender is gone');
  };
  await expect(send(feedId, Readable.from(broken()))).rejects.toThrow();
  const entry = z.object({ details: z.any() });
  const entries = () =>
    engine.db.any(sql.type(entry)`
      SELECT details FROM audit_log WHERE action = 'data_ingest' AND target_id = ${feedId}`);
  await eventually(async () => (await entries()).length > 0);
  expect(await entries()).toMatchObject([{ details: { created: 1_500, broken_off: true } }]);
  expect(await countOf(feedId)).toBe(1_500);
  const { body } = await send(feedId, Readable.from(lines(1_700)));
  expect(body).toMatchObject({ created: 200, unchanged: 1_500 });
}, 60_000);
