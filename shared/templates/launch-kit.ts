import { type BuiltInTemplate, node } from './template.ts';

/**
 *            ┌── slogan ───┐
 *   brief ───┼── price ────┼── kit ── summary
 *            └── risks ────┘
 */
export const launchKit: BuiltInTemplate = {
  id: 'tpl_launch-kit',
  name: 'Launch kit',
  description:
    'Prepares the launch of a product from one brief: three agents work at the same time and a merge collects what ' +
    'they wrote. Input: product, audience (texts). Shows: parallel branches, a merge, and a step that fails once and ' +
    'is retried by its own retry policy.',
  graph: {
    nodes: [
      node('agent', 'brief', 'Write the brief', [0, 1], {
        prompt: 'In three sentences: what is {product}, and why should {audience} care?',
        mock: { output: '{product} gives {audience} an hour back every day.', cost_usd: 0.0015 },
      }),
      node('agent', 'slogan', 'Find a slogan', [1, 0], {
        prompt: 'Brief: {brief}\nWrite a slogan for {audience}.',
        mock: { output: '{product}: more day in your day.', cost_usd: 0.0022, delay_ms: 80 },
      }),
      node('agent', 'price', 'Propose a price', [1, 1], {
        prompt: 'Brief: {brief}\nPropose a monthly price in dollars.',
        response_schema: {
          type: 'object',
          properties: { monthly_usd: { type: 'number', minimum: 0 }, reason: { type: 'string' } },
          required: ['monthly_usd'],
        },
        retry: { max_attempts: 3, initial_interval_seconds: 0.1 },
        mock: {
          output: {
            monthly_usd: 12,
            reason: 'Between the two products that {audience} use today.',
          },
          cost_usd: 0.0019,
          fail_times: 1,
        },
      }),
      node('agent', 'risks', 'Look for risks', [1, 2], {
        prompt: 'Brief: {brief}\nWhat could go wrong in the first month?',
        mock: {
          output: 'Support may be asked more than it can answer.',
          cost_usd: 0.0026,
          delay_ms: 80,
        },
      }),
      node('merge', 'kit', 'Collect the parts', [2, 1]),
      node('agent', 'summary', 'Sum up for the team', [3, 1], {
        prompt: 'Sum up: slogan "{kit.slogan}", price {kit.price.monthly_usd}, risks: {kit.risks}',
        mock: {
          output:
            '{kit.slogan} For {kit.price.monthly_usd} dollars a month. Watch out: {kit.risks}',
          cost_usd: 0.0033,
        },
      }),
    ],
    edges: [
      { source: 'brief', target: 'slogan' },
      { source: 'brief', target: 'price' },
      { source: 'brief', target: 'risks' },
      { source: 'slogan', target: 'kit' },
      { source: 'price', target: 'kit' },
      { source: 'risks', target: 'kit' },
      { source: 'kit', target: 'summary' },
    ],
  },
  checks: [
    { name: 'names the price', type: 'contains', target: 'summary', value: 'dollars' },
    {
      name: 'the price is sane',
      type: 'expression',
      value: 'kit.price.monthly_usd > 0 and kit.price.monthly_usd < 100',
    },
    {
      name: 'the slogan is kept',
      type: 'equals',
      target: 'kit.slogan',
      value: 'Daybreak: more day in your day.',
    },
  ],
  sampleInput: { product: 'Daybreak', audience: 'small agencies' },
};
