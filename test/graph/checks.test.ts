import { describe, expect, test } from '@jest/globals';
import {
  evaluationChecksSchema,
  type EvaluationCheck,
} from '#shared/contract/workflows/evaluation-check.ts';
import { evaluateChecks, type CheckedRun } from '#shared/graph/checks.ts';
import type { Json } from '#shared/json.ts';

const run: CheckedRun = {
  state: {
    reply: 'We issued a Refund.',
    score: 7,
    user: { name: 'Bo', tags: ['a', 'b'] },
    'dotted.key': 'yes',
    none: null,
  },
  output: { reply: 'We issued a Refund.' },
  cost_usd: 0.02,
  duration_ms: 1500,
};

const [text, number, expression] = ['contains', 'max_cost_usd', 'expression'] as const;

function outcome(check: Omit<EvaluationCheck, 'name'>): {
  passed: boolean;
  actual: Json;
  message?: string;
} {
  const [parsed] = evaluationChecksSchema.parse([{ name: 'check', ...check }]);
  const { passed, actual, message, ...rest } = evaluateChecks([parsed!], run).results[0]!;
  expect(rest).toEqual({ name: 'check', type: check.type, expected: check.value });
  return { passed, actual, ...(message !== undefined && { message }) };
}

describe('checks', () => {
  test.each<[Omit<EvaluationCheck, 'name'>, boolean, Json]>([
    [{ type: text, target: 'reply', value: 'refund' }, true, 'We issued a Refund.'],
    [
      { type: text, target: 'reply', value: 'refund', case_sensitive: true },
      false,
      'We issued a Refund.',
    ],
    [{ type: text, target: 'score', value: 7 }, true, 7],
    [{ type: text, target: 'user', value: '"name":"bo"' }, true, { name: 'Bo', tags: ['a', 'b'] }],
    [{ type: text, value: 'refund' }, true, { reply: 'We issued a Refund.' }],
    [{ type: 'not_contains', target: 'reply', value: 'sorry' }, true, 'We issued a Refund.'],
    [{ type: 'not_contains', target: 'reply', value: 'REFUND' }, false, 'We issued a Refund.'],
    [{ type: 'equals', target: 'user.name', value: 'bo' }, true, 'Bo'],
    [{ type: 'equals', target: 'user.name', value: 'bo', case_sensitive: true }, false, 'Bo'],
    [{ type: 'equals', target: 'score', value: 7 }, true, 7],
    [{ type: 'equals', target: 'score', value: '7' }, true, 7],
    [{ type: 'equals', target: 'user.tags.1', value: 'b' }, true, 'b'],
    [{ type: 'equals', target: 'dotted.key', value: 'yes' }, true, 'yes'],
    [{ type: 'equals', target: 'none', value: 'null' }, true, null],
    [{ type: 'regex', target: 'reply', value: 'refund\\.$' }, true, 'We issued a Refund.'],
    [
      { type: 'regex', target: 'reply', value: '^refund', case_sensitive: true },
      false,
      'We issued a Refund.',
    ],
    [{ type: number, value: 0.02 }, true, 0.02],
    [{ type: number, value: 0.019 }, false, 0.02],
    [{ type: 'max_duration_ms', value: 1499 }, false, 1500],
    [{ type: 'max_duration_ms', value: 1500 }, true, 1500],
    [{ type: expression, value: "score > 5 and 'a' in user.tags" }, true, true],
    [{ type: expression, value: 'len(missing)' }, false, 0],
    [{ type: expression, value: 'cost_usd < 1 and output.reply == reply' }, true, true],
  ])('%j: %j', (check, passed, actual) => {
    expect(outcome(check)).toEqual({ passed, actual });
  });

  test.each<[Omit<EvaluationCheck, 'name'>, string]>([
    [{ type: text, target: 'user.age', value: 'x' }, "The run has no 'user.age'"],
    [{ type: 'not_contains', target: '__proto__', value: 'x' }, "The run has no '__proto__'"],
    [{ type: 'regex', target: 'reply', value: '(' }, 'not valid'],
    [{ type: expression, value: '1 +' }, 'position 3'],
    [{ type: expression, value: 'score + reply' }, 'number + string'],
  ])('%j fails with a reason', (check, reason) => {
    const { passed, actual, message } = outcome(check);
    expect([passed, actual]).toEqual([false, null]);
    expect(message).toContain(reason);
  });

  test('report passed and total counts', () => {
    const evals = evaluateChecks(
      [
        { name: 'a', type: 'max_cost_usd', value: 1 },
        { name: 'b', type: 'max_cost_usd', value: 0 },
      ],
      run,
    );
    expect([evals.passed, evals.total, evals.results.map((result) => result.name)]).toEqual([
      1,
      2,
      ['a', 'b'],
    ]);
    expect(evaluateChecks([], run)).toEqual({ passed: 0, total: 0, results: [] });
  });

  test('truncate long texts in the result only', () => {
    const state = { reply: `${'x'.repeat(5000)}end` };
    const [result] = evaluateChecks(
      [{ name: 'a', type: 'contains', target: 'reply', value: 'end' }],
      { ...run, state },
    ).results;
    expect(result?.passed).toBe(true);
    expect(result?.actual).toHaveLength(1001);
  });
});
