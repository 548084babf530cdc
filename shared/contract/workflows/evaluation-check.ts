import { z } from 'zod';
import { dollarsOrZero } from '#shared/contract/common.ts';
import { json } from './node-common.ts';

/** Checks that score each successful run of a workflow. */

const checkCommon = {
  name: z.string().min(1).max(200),
  /** A state key or dotted path. Text checks without a target use the run's output. */
  target: z.string().max(500).optional(),
  /** For text checks only; by default, case is ignored. */
  case_sensitive: z.boolean().optional(),
};

export const evaluationCheckSchema = z
  .discriminatedUnion('type', [
    z
      .strictObject({
        ...checkCommon,
        type: z.enum(['contains', 'not_contains', 'equals', 'regex']),
        value: z.union([z.string().max(10_000), z.number()]),
      })
      .meta({ id: 'TextCheck' }),
    z
      .strictObject({
        ...checkCommon,
        type: z.enum(['max_cost_usd', 'max_duration_ms']),
        value: z.number().min(0),
      })
      .meta({ id: 'LimitCheck' }),
    z
      .strictObject({
        ...checkCommon,
        type: z.literal('expression'),
        value: z.string().min(1).max(2000),
      })
      .meta({ id: 'ExpressionCheck' }),
  ])
  .meta({ id: 'EvaluationCheck' });

export const evaluationChecksSchema = z.array(evaluationCheckSchema).max(100);

/** Checks in requests, where an amount of money must be a whole number of micro-dollars. */
export const evaluationChecksInput = evaluationChecksSchema.superRefine((checks, context) => {
  for (const [index, { type, value }] of checks.entries()) {
    if (type !== 'max_cost_usd') continue;
    for (const { message } of dollarsOrZero(1_000_000_000).safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [index, 'value'], message });
    }
  }
});

const checkResultSchema = z
  .object({
    name: z.string(),
    type: z.enum([
      'contains',
      'not_contains',
      'equals',
      'regex',
      'max_cost_usd',
      'max_duration_ms',
      'expression',
    ]),
    passed: z.boolean(),
    actual: json,
    expected: json,
    message: z.string().optional(),
  })
  .meta({ id: 'CheckResult' });

export const evalsSchema = z
  .object({
    passed: z.int(),
    total: z.int(),
    results: z.array(checkResultSchema),
  })
  .meta({ id: 'Evaluation' });

export type EvaluationCheck = z.infer<typeof evaluationCheckSchema>;
export type CheckResult = z.infer<typeof checkResultSchema>;
export type Evals = z.infer<typeof evalsSchema>;
