import { describe, expect, it } from '@jest/globals';
import { costOf, priceOf, priceTable } from '#shared/money/prices.ts';

describe('prices', () => {
  it('are dated, sourced and plausible', () => {
    expect(priceTable.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(priceTable.source).not.toBe('');
    for (const [model, price] of Object.entries(priceTable.models)) {
      expect(model).toMatch(/^(openai|anthropic|google)\/[a-z0-9.-]+$/);
      expect(price.inputUsd).toBeGreaterThan(0);
      expect(price.outputUsd).toBeGreaterThanOrEqual(price.inputUsd);
      for (const rate of [price, price.longContext ?? price]) {
        expect(rate.cachedInputUsd ?? 0).toBeLessThan(rate.inputUsd);
      }
    }
  });

  it('of a dated snapshot default to those of its model', () => {
    expect(priceOf('openai/gpt-5-2025-08-07')).toBe(priceTable.models['openai/gpt-5']);
    expect(priceOf('anthropic/claude-opus-4-6-20260205')).toBe(
      priceTable.models['anthropic/claude-opus-4-6'],
    );
    expect(priceOf('openai/gpt-4o-2024-05-13')).toEqual({ inputUsd: 5, outputUsd: 15 });
    expect(priceOf('google/gemini-2.5-flash')).toMatchObject({ inputUsd: 0.3, outputUsd: 2.5 });
  });

  it('are unknown for unlisted models, and are not inherited from Object', () => {
    const names = ['compatible/x', 'openai/unheard-of', 'constructor', '__proto__', 'toString', ''];
    expect(names.map((name) => priceOf(name))).toEqual(names.map(() => undefined));
  });

  it('of the mock are zero, so it never counts as unpriced', () => {
    expect(priceOf('mock')).toEqual({ inputUsd: 0, outputUsd: 0 });
  });

  it('of the workspace come first', () => {
    const mine = { inputUsd: 0.01, outputUsd: 0.02 };
    expect(priceOf('openai/gpt-4o', { 'openai/gpt-4o': mine })).toBe(mine);
  });

  it.each([
    [{ inputUsd: 0.15, outputUsd: 0.6 }, 20, 0, 3],
    [{ inputUsd: 0.15, outputUsd: 0.6 }, 1, 0, 1],
    [{ inputUsd: 0.15, outputUsd: 0.6 }, 0, 0, 0],
    [{ inputUsd: 2.5, outputUsd: 10 }, 1000, 500, 7500],
    [{ inputUsd: 150, outputUsd: 600 }, 1_000_000_000, 0, 150_000_000_000],
    [
      {
        inputUsd: 1,
        outputUsd: 1,
        longContext: { aboveInputTokens: 10, inputUsd: 2, outputUsd: 3 },
      },
      10,
      1,
      11,
    ],
    [
      {
        inputUsd: 1,
        outputUsd: 1,
        longContext: { aboveInputTokens: 10, inputUsd: 2, outputUsd: 3 },
      },
      11,
      1,
      25,
    ],
  ])(
    '%j for %d and %d tokens make %d micro-dollars',
    (price, input_tokens, output_tokens, micros) => {
      expect(costOf(price, { input_tokens, output_tokens })).toBe(micros);
    },
  );

  const long = { aboveInputTokens: 100, inputUsd: 2, outputUsd: 2, cachedInputUsd: 0.2 };
  it.each([
    ['at its rate', { inputUsd: 1, outputUsd: 1, cachedInputUsd: 0.1 }, 100, 80, 28],
    ['rounded up once', { inputUsd: 1, outputUsd: 1, cachedInputUsd: 0.1 }, 100, 79, 29],
    ['in full without a rate', { inputUsd: 1, outputUsd: 1 }, 100, 80, 100],
    ['free at a rate of 0', { inputUsd: 1, outputUsd: 1, cachedInputUsd: 0 }, 100, 80, 20],
    ['at most all of it', { inputUsd: 1, outputUsd: 1, cachedInputUsd: 0.1 }, 100, 999, 10],
    ['long', { inputUsd: 1, outputUsd: 1, cachedInputUsd: 0.1, longContext: long }, 101, 100, 22],
  ])('of cached input: %s', (_what, price, input_tokens, cached_tokens, micros) => {
    expect(costOf(price, { input_tokens, output_tokens: 0, cached_tokens })).toBe(micros);
  });

  it.each([
    ['a quarter more', 100, 0, 80, 120],
    ['beside cached input', 100, 20, 80, 102],
    ['rounded up once', 101, 0, 1, 102],
    ['at most all that was not cached', 100, 20, 999, 102],
  ])('of stored input: %s', (_what, input_tokens, cached_tokens, written, micros) => {
    const usage = { input_tokens, output_tokens: 0, cached_tokens, cache_write_tokens: written };
    expect(costOf({ inputUsd: 1, outputUsd: 1, cachedInputUsd: 0.1 }, usage)).toBe(micros);
  });
});
