import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';
import { runViewFilter } from './run.ts';
import { MAX_VIEW_NAME } from '#shared/limits.ts';

const MAX_FILTER = 2_000;

export const runViewParams = z.strictObject({
  name: z
    .string()
    .min(1)
    .meta({ description: `1 to ${MAX_VIEW_NAME} characters` }),
});

const filter = z
  .string()
  .min(1)
  .max(MAX_FILTER)
  .check(({ value, issues }) => {
    const given = [...new URLSearchParams(value)];
    const twice = given.find(([key], index) => given.findIndex(([other]) => other === key) < index);
    const { error } = runViewFilter.safeParse(Object.fromEntries(given));
    const [problem] = error?.issues ?? [];
    if (twice === undefined && problem === undefined) return;
    const path = problem?.path.join('.') ?? '';
    const message =
      twice === undefined
        ? `${path === '' ? 'the filter' : path}: ${problem?.message ?? ''}`
        : `${twice[0]} is given twice`;
    issues.push({ code: 'custom', message, input: value });
  })
  .meta({
    description: 'The query of `GET /api/runs`, without `limit` and `cursor`',
    examples: ['status=failed&min_cost_usd=2'],
  });

export const runViewBody = z
  .strictObject({ filter })
  .meta({ examples: [{ filter: 'status=failed&min_cost_usd=2' }] });

export const runViewSchema = z
  .object({ name: z.string(), filter: z.string(), saved_at: timestamp })
  .meta({ id: 'RunView' });

export const runViewListSchema = z
  .object({ views: z.array(runViewSchema) })
  .meta({ id: 'RunViewList' });

export type RunView = z.infer<typeof runViewSchema>;
