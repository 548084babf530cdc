import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { AgentDeltaFrame } from '#shared/contract/runs/stream.ts';
import { sql } from '#shared/db/pool.ts';
import { eventually, startEngine } from '#test/support/engine.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { useStage } from '#test/support/stage.ts';

const models = useStage(() => startModelServer());
const engine = useStage(() => startEngine({ env: modelSettings(models) }));

const agent = (rest: object = {}) => ({
  nodes: [
    {
      id: 'write',
      kind: 'agent' as const,
      model: 'openai/gpt-4o',
      prompt: 'Write {name}',
      ...rest,
    },
  ],
  edges: [],
});

/** A process with its API, and what a socket of it hears. */
async function listen(runId: string) {
  const app = buildApp(engine.deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `${app.listeningOrigin.replace('http', 'ws')}/api/runs/${runId}/stream?deltas=true`;
  const socket = new WebSocket(url);
  const frames: AgentDeltaFrame[] = [];
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString());
    if (frame.type === 'agent_delta') frames.push(frame);
  });
  await once(socket, 'open');
  const text = () =>
    frames.reduce((written, { offset, text: piece }) => written.slice(0, offset) + piece, '');
  const close = async () => {
    socket.close();
    await app.close();
  };
  return { frames, text, close };
}

const stored = () =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*)::int AS n FROM answer_pieces`);

test.each([{}, { response_schema: { type: 'object' } }])(
  'an agent without tools is streamed to every process, from its beginning: %j',
  async (rest) => {
    const text = JSON.stringify({ story: 'Once upon a time, there was a model. '.repeat(20) });
    const { promise, resolve: proceed } = Promise.withResolvers<undefined>();
    models.answers.splice(0, Infinity, { text, pause: () => promise });
    const runId = await engine.start(agent(rest), { name: 'a story' });
    const early = await listen(runId);
    await eventually(() => early.text() !== '');
    const late = await listen(runId);
    await eventually(() => late.text() === early.text());
    proceed(undefined);
    const run = await engine.ended(runId);
    for (const listener of [early, late]) {
      await eventually(() => listener.text() === text);
      expect(listener.frames[0]).toMatchObject({ step_key: 'write', turn: 1, offset: 0 });
      await listener.close();
    }
    expect(run).toMatchObject({ status: 'success', cost_usd: 0.00015 });
    expect(run.steps[0]).toMatchObject({
      output: 'response_schema' in rest ? JSON.parse(text) : text,
      usage: { input_tokens: 20, output_tokens: 10 },
    });
    expect(await stored()).toBe(0);
  },
);

test('a retry starts the text again', async () => {
  const text = 'A long text, of which the first attempt says only a half. '.repeat(5);
  const { promise, resolve: proceed } = Promise.withResolvers<undefined>();
  models.answers.splice(
    0,
    Infinity,
    { text, cut: 'end' },
    { text: `Again: ${text}`, pause: () => promise },
  );
  const retry = { max_attempts: 2, initial_interval_seconds: 0.1, backoff: 1 };
  const runId = await engine.start(agent({ retry }), { name: 'a story' });
  const listener = await listen(runId);
  await eventually(() => listener.text().startsWith('Again: A long text'));
  proceed(undefined);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  await eventually(() => listener.text() === `Again: ${text}`);
  await listener.close();
  expect(await stored()).toBe(0);
});
