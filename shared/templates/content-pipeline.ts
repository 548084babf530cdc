import { type BuiltInTemplate, node } from './template.ts';

/**
 *                        ┌── true ── critique ── revise ── rate ──┐
 *   outline ── draft ── improve ◄─────────────────────────────────┘
 *                        └── headline ── article
 */
export const contentPipeline: BuiltInTemplate = {
  id: 'tpl_content-pipeline',
  name: 'Content pipeline',
  description:
    'Writes an article: an outline, a draft, then iterations of criticism and revision until the draft is good enough, at ' +
    'most four. Input: topic, audience (texts), good_enough (number from 0 to 1, 0.8 by default). Shows: a loop ' +
    'that ends by a score, a key that each iteration writes again.',
  graph: {
    nodes: [
      node('agent', 'outline', 'Outline the article', [0, 1], {
        prompt: 'Outline an article on {topic} for {audience}: four headings.',
        mock: {
          output: ['Why now', 'How it works', 'What it costs', 'Where to begin'],
          cost_usd: 0.0011,
        },
      }),
      node('agent', 'draft', 'Write a draft', [1, 1], {
        prompt: 'Write the article on {topic} for {audience} along these headings: {outline}',
        output_key: 'text',
        mock: { output: '{topic} for {audience}, first draft.', cost_usd: 0.0052 },
      }),
      node('loop', 'improve', 'Until it is good enough', [2, 1], {
        // Before the first iteration, nothing has rated the draft.
        expression: 'default(quality, 0) < default(good_enough, 0.8)',
        max_iterations: 4,
      }),
      node('agent', 'critique', 'Criticize it', [2, 0], {
        system_prompt: 'You are a strict editor. Name the three weakest sentences and why.',
        prompt: '{text}',
        mock: {
          output: 'Round {improve.iterations}: shorten the second paragraph.',
          cost_usd: 0.0016,
        },
      }),
      node('agent', 'revise', 'Revise it', [3, 0], {
        prompt: 'Revise the article.\n\nCriticism: {critique}\n\nArticle: {text}',
        output_key: 'text',
        mock: {
          output: '{topic} for {audience}, revision {improve.iterations}.',
          cost_usd: 0.0048,
        },
      }),
      node('tool', 'rate', 'Rate it', [4, 0], {
        // Replace this with your own rating, by a model or a tool.
        tool_name: 'json_transform',
        params: { expression: 'min(1, round(0.4 + improve.iterations * 0.25, 2))' },
        output_key: 'quality',
      }),
      node('agent', 'headline', 'Find a headline', [3, 2], {
        prompt: 'A headline of at most ten words for:\n\n{text}',
        mock: { output: '{topic}, explained', cost_usd: 0.0007 },
      }),
      node('tool', 'article', 'Put it together', [4, 2], {
        tool_name: 'json_transform',
        params: { expression: "headline + '\n\n' + text" },
      }),
    ],
    edges: [
      { source: 'outline', target: 'draft' },
      { source: 'draft', target: 'improve' },
      { source: 'improve', target: 'critique', condition_value: 'true' },
      { source: 'critique', target: 'revise' },
      { source: 'revise', target: 'rate' },
      { source: 'rate', target: 'improve' },
      { source: 'improve', target: 'headline', condition_value: 'false' },
      { source: 'headline', target: 'article' },
    ],
  },
  checks: [
    { name: 'is good enough', type: 'expression', value: 'quality >= default(good_enough, 0.8)' },
    { name: 'was revised', type: 'regex', target: 'article', value: 'revision \\d' },
    { name: 'keeps to the topic', type: 'expression', value: 'topic in article' },
    { name: 'costs less than five cents', type: 'max_cost_usd', value: 0.05 },
  ],
  sampleInput: { topic: 'Heat pumps', audience: 'home owners' },
};
