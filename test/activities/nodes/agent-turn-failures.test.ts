import { describe, expect, it } from '@jest/globals';
import { models, startTurns, twoCalls } from '#test/support/turns.ts';
import { useStageEach } from '#test/support/stage.ts';

const turns = useStageEach(() => startTurns());

const ways = models.flatMap((model) => [[model, 'whole'] as const, [model, 'streamed'] as const]);
const deltasOf = (way: 'whole' | 'streamed'): string[] | undefined =>
  way === 'streamed' ? [] : undefined;

describe.each(ways)('a failing provider of %s, %s', (model, way) => {
  it.each([
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [401, false],
  ])('with status %d is retryable: %s, after one request', async (status, retryable) => {
    turns.server.answers.push({ status, message: 'no' });
    await expect(turns.ask(model, {}, deltasOf(way))).rejects.toMatchObject({
      name: 'NodeError',
      message: `${model} answered ${status}: no`,
      retryable,
      definite: true,
    });
    expect(turns.server.seen).toHaveLength(1);
  });

  it('is followed by the fallbacks that the policies allow', async () => {
    turns.server.answers.push({ status: 500, message: 'no' }, { text: 'From the spare' });
    const blocked: string[] = [];
    const call = {
      node: { fallback_models: ['openai/blocked', 'compatible/spare', 'mock'] },
      mayFallBack: (name: string) => {
        if (name === 'openai/blocked') blocked.push(name);
        return Promise.resolve(name !== 'openai/blocked');
      },
    };
    expect(await turns.ask(model, call, deltasOf(way))).toMatchObject({
      output: 'From the spare',
      model: 'compatible/spare',
      unpriced: true,
    });
    expect(blocked).toEqual(['openai/blocked']);
  });

  it.each(['end', 'destroy', 'error'] as const)(
    'that stops in the middle (%s) is retryable',
    async (cut) => {
      for (const answer of [twoCalls, { text: 'A long text that is cut off in its middle' }]) {
        turns.server.answers.splice(0, Infinity, { ...answer, cut });
        await expect(turns.ask(model, {}, deltasOf(way))).rejects.toMatchObject({
          name: 'NodeError',
          retryable: true,
          definite: false,
        });
      }
      turns.server.answers.splice(0, Infinity, { ...twoCalls, cut }, { text: 'From the spare' });
      const call = { node: { fallback_models: ['compatible/spare'] } };
      expect(await turns.ask(model, call, deltasOf(way))).toMatchObject({
        output: 'From the spare',
      });
    },
  );

  it('that returns something else is retryable', async () => {
    for (const raw of ['<html>', '{"choices":[]}', 'data: {"a"\n\n']) {
      turns.server.answers.splice(0, Infinity, { raw });
      await expect(turns.ask(model, {}, deltasOf(way))).rejects.toMatchObject({
        name: 'NodeError',
        retryable: true,
        message: expect.not.stringMatching(/choices|"a"/),
      });
    }
  });

  it('that hangs ends with the reason of the abort', async () => {
    for (const pause of [undefined, () => new Promise<void>(() => undefined)]) {
      const answer = pause === undefined ? { hang: true as const } : { ...twoCalls, pause };
      turns.server.answers.splice(0, Infinity, answer);
      const controller = new AbortController();
      const reason = new Error('run cancelled');
      const call = { node: { fallback_models: ['mock'] }, signal: controller.signal };
      const asked = turns.ask(model, call, deltasOf(way));
      setTimeout(() => controller.abort(reason), 50);
      await expect(asked).rejects.toBe(reason);
    }
  });

  it('without a price is not called if a cap or a budget applies', async () => {
    const call = { budgeted: true, node: { model: 'compatible/unpriced' } };
    await expect(turns.ask(model, call, deltasOf(way))).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining('has no price'),
    });
    expect(turns.server.seen).toHaveLength(0);
  });
});

it('a stream of a fallback starts again, under its own name', async () => {
  const text = 'The first model writes as much as fits into several events. '.repeat(5);
  turns.server.answers.push({ text, cut: 'end' }, { text: 'From the spare' });
  const received: Record<string, string> = {};
  await turns.ask('openai/gpt-4o', {
    node: { fallback_models: ['compatible/spare'] },
    onText: (delta, model) => void (received[model] = (received[model] ?? '') + delta),
  });
  expect(text.startsWith(received['openai/gpt-4o']!)).toBe(true);
  expect(received['compatible/spare']).toBe('From the spare');
});

it('a turn without settings for its provider fails permanently', async () => {
  await expect(turns.ask('nowhere/x')).rejects.toMatchObject({
    retryable: false,
    message: expect.stringContaining('Unknown model'),
  });
});
