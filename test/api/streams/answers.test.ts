import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { App } from '#api/deps.ts';
import type { AgentDeltaFrame } from '#shared/contract/runs/stream.ts';
import { type AgentDelta, dropLeftPieces, sendDeltas } from '#shared/db/agents/deltas.ts';
import { sql } from '#shared/db/pool.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();
let workflowId: string;
beforeAll(async () => {
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
});
const startRun = async (): Promise<string> =>
  (await api.call('POST', `/api/workflows/${workflowId}/runs`, { ticket: 'x' })).body.id;

/** An answer as a worker sends it. */
function answerOf(runId: string, { answer = 'one', step_key = 'ask', turn = 1 } = {}) {
  const key = { run_id: runId, step_key, turn, answer };
  let place = 0;
  const next = (text: string): AgentDelta => {
    place += text.length;
    return { ...key, place: place - text.length, text };
  };
  return {
    say: (...texts: string[]) => sendDeltas(api.db, { deltas: texts.map(next), ended: [] }),
    end: () => sendDeltas(api.db, { deltas: [], ended: [key] }),
    /** A piece that no process hears. */
    sayUnheard: (text: string) => {
      const { place: at } = next(text);
      return api.db.query(sql.unsafe`
        INSERT INTO answer_pieces (run_id, step_key, turn, answer, place, text)
        VALUES (${runId}, ${step_key}, ${turn}, ${answer}, ${at}, ${text})`);
    },
    /** A piece that was not stored. */
    sayOnly: async (text: string) => {
      const delta = next(text);
      await api.db.query(sql.unsafe`
        SELECT pg_notify('agent_deltas', ${JSON.stringify([delta])})`);
    },
  };
}

interface Listener {
  frames: AgentDeltaFrame[];
  /** The text of an answer, put together by the offsets of its pieces. */
  text: (stepKey?: string) => string;
  /** Resolves once the text ends like this. */
  heard: (end: string, stepKey?: string) => Promise<string>;
  close: () => void;
}

async function listen(runId: string, app: App = api.app): Promise<Listener> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runs/${runId}/stream?deltas=true`);
  const frames: AgentDeltaFrame[] = [];
  const checks = new Set<() => void>();
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString());
    if (frame.type === 'agent_delta') frames.push(frame);
    for (const check of checks) check();
  });
  await once(socket, 'open');
  const text: Listener['text'] = (stepKey = 'ask') => {
    let written = '';
    for (const { step_key, offset, text: piece } of frames) {
      if (step_key !== stepKey) continue;
      expect(offset ?? 0).toBeLessThanOrEqual(written.length);
      written = written.slice(0, offset) + piece;
    }
    return written;
  };
  const heard: Listener['heard'] = async (end, stepKey) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const check = () => text(stepKey).endsWith(end) && resolve(undefined);
    checks.add(check);
    check();
    await promise;
    return text(stepKey);
  };
  return { frames, text, heard, close: () => socket.close() };
}

const stored = (runId: string) =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*)::int AS n FROM answer_pieces WHERE run_id = ${runId}`);

describe('a stream with deltas', () => {
  test('that opens late has the text so far, then the rest, in every process', async () => {
    const runId = await startRun();
    const answer = answerOf(runId);
    const first = await listen(runId);
    await answer.say('The beg', 'inning, ');
    await first.heard('inning, ');
    const { app } = await api.another();
    const late = [await listen(runId), await listen(runId, app)];
    await answer.say('the middle ');
    for (const { heard } of late) await heard('middle ');
    await answer.say('and the end');
    for (const listener of [first, ...late]) {
      expect(await listener.heard('end')).toBe('The beginning, the middle and the end');
      listener.close();
    }
    await answer.end();
    expect(await stored(runId)).toBe(0);
    await app.close();
  });

  test('gets each piece once while it opens', async () => {
    const runId = await startRun();
    const answer = answerOf(runId);
    const numbers = Array.from({ length: 300 }, (_, n) => `${n} `);
    const listeners: Listener[] = [];
    const opening = (async () => {
      for (let n = 0; n < 10; n += 1) listeners.push(await listen(runId));
    })();
    for (const number of numbers) await answer.say(number);
    await opening;
    await answer.say('.');
    for (const { heard, frames, close } of listeners) {
      expect(await heard('.')).toBe(`${numbers.join('')}.`);
      const length = frames.reduce((sum, { text }) => sum + text.length, 0);
      expect(length).toBe(numbers.join('').length + 1);
      close();
    }
  });

  test('sees an answer that starts again, and nothing of the one before', async () => {
    const runId = await startRun();
    const before = answerOf(runId);
    await before.say('A first attempt');
    const early = await listen(runId);
    await early.heard('attempt');
    const again = answerOf(runId, { answer: 'two' });
    await again.say('A second');
    const late = await listen(runId);
    await late.heard('second');
    // The first attempt may still be writing somewhere.
    await before.say(' that is lost');
    await again.say(' one');
    for (const { heard, close } of [early, late]) {
      expect(await heard('one')).toBe('A second one');
      close();
    }
    await before.end();
    expect(late.text()).toBe('A second one');
    expect(await stored(runId)).toBe(2);
  });

  test('reads what it has missed', async () => {
    const runId = await startRun();
    const answer = answerOf(runId);
    const listener = await listen(runId);
    await answer.say('One, ');
    await listener.heard('One, ');
    await answer.sayUnheard('two, ');
    await answer.say('three');
    expect(await listener.heard('three')).toBe('One, two, three');
    listener.close();
  });

  test('continues after a gap that cannot be read', async () => {
    const runId = await startRun();
    const answer = answerOf(runId);
    const listener = await listen(runId);
    await answer.sayOnly('Not stored');
    await listener.heard('stored');
    const late = await listen(runId);
    // Without its beginning, an answer is not shown at all.
    await answer.sayOnly(', and continued');
    await listener.heard('continued');
    const other = answerOf(runId, { answer: 'other', step_key: 'other' });
    await other.say('Other');
    await late.heard('Other', 'other');
    expect(late.text()).toBe('');
    listener.close();
    late.close();
  });

  test('has no text of other runs and of ended answers', async () => {
    const [runId, otherId] = [await startRun(), await startRun()];
    await answerOf(otherId).say('Of another run');
    const ended = answerOf(runId, { step_key: 'ended' });
    const early = await listen(runId);
    await ended.say('Ended');
    await early.heard('Ended', 'ended');
    early.close();
    await ended.end();
    const listener = await listen(runId);
    await answerOf(runId).say('Mine');
    await listener.heard('Mine');
    expect(listener.frames.map(({ text }) => text)).toEqual(['Mine']);
    listener.close();
  });

  test('leaves out answers that are too long together, the longest first', async () => {
    const runId = await startRun();
    const long = 'x'.repeat(99_000);
    for (const step_key of ['a', 'b', 'c', 'd']) await answerOf(runId, { step_key }).say(long);
    const short = answerOf(runId, { step_key: 'short' });
    await short.say('Short');
    const listener = await listen(runId);
    await listener.heard('Short', 'short');
    const whole = () => ['a', 'b', 'c', 'd'].filter((key) => listener.text(key) === long).length;
    await listener.heard('x', 'c');
    expect(whole()).toBe(3);
    listener.close();
  });

  test('has the pieces of workers of 1.0.0, which have no place', async () => {
    const runId = await startRun();
    const listener = await listen(runId);
    const old = { run_id: runId, step_key: 'ask', turn: 1, text: 'Hello' };
    await answerOf(runId).say('So');
    await listener.heard('So');
    await api.db.query(sql.unsafe`SELECT pg_notify('agent_deltas', ${JSON.stringify([old])})`);
    await listener.heard('Hello');
    expect(listener.frames[1]).toEqual({ type: 'agent_delta', ...old });
    listener.close();
  });
});

test('what a killed worker left behind is deleted after a day', async () => {
  const [old, recent] = [await startRun(), await startRun()];
  await answerOf(old).say('Old');
  await answerOf(recent).say('Recent');
  await api.db.query(sql.unsafe`
    UPDATE answer_pieces SET created_at = now() - interval '25 hours' WHERE run_id = ${old}`);
  await dropLeftPieces(api.db);
  expect([await stored(old), await stored(recent)]).toEqual([0, 1]);
});
