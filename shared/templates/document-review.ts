import { type BuiltInTemplate, node } from './template.ts';

/**
 *              ┌── legal ──────┐                     true ┌─ release ─┐
 *   summary ───┤               ├── verdicts ── approved ──┤           ├── outcome
 *              └── editorial ──┘                    false └─ rework ──┘
 */
export const documentReview: BuiltInTemplate = {
  id: 'tpl_document-review',
  name: 'Document review',
  description:
    'Sums a document up and asks two people at the same time, one for the law and one for the language. Both have to ' +
    'agree; otherwise the author learns what to rework. Input: title, text (texts). Shows: two human gates side by ' +
    'side, a merge of their decisions, an input with a schema.',
  graph: {
    nodes: [
      node('agent', 'summary', 'Sum the document up', [0, 1], {
        prompt:
          'Sum up in five sentences, and name every promise that is made:\n\n{title}\n\n{text}',
        mock: { output: '"{title}" promises delivery within two days.', cost_usd: 0.0029 },
      }),
      node('human_gate', 'legal', 'Legal review', [1, 0], {
        prompt: 'May we publish "{title}"?\n\n{summary}',
      }),
      node('human_gate', 'editorial', 'Editorial review', [1, 2], {
        prompt: 'Does "{title}" read well?\n\n{text}',
      }),
      node('merge', 'verdicts', 'Collect the decisions', [2, 1]),
      node('condition', 'approved', 'Do both agree?', [3, 1], {
        expression: 'verdicts.legal.approved and verdicts.editorial.approved',
      }),
      node('tool', 'release', 'Release it', [4, 0], {
        tool_name: 'json_transform',
        params: { expression: "'Released: ' + title" },
        output_key: 'decision',
      }),
      node('agent', 'rework', 'Say what to rework', [4, 2], {
        prompt: 'Tell the author of "{title}" who did not agree, and what to look at: {verdicts}',
        output_key: 'decision',
        mock: { output: 'Back to the author: {title}', cost_usd: 0.0014 },
      }),
      node('agent', 'outcome', 'Announce the outcome', [5, 1], {
        prompt: 'One friendly sentence to everybody involved: {decision}',
        mock: { output: '{decision}. Thank you both for reading.', cost_usd: 0.0007 },
      }),
    ],
    edges: [
      { source: 'summary', target: 'legal' },
      { source: 'summary', target: 'editorial' },
      { source: 'legal', target: 'verdicts', condition_value: 'true' },
      { source: 'legal', target: 'verdicts', condition_value: 'false' },
      { source: 'editorial', target: 'verdicts', condition_value: 'true' },
      { source: 'editorial', target: 'verdicts', condition_value: 'false' },
      { source: 'verdicts', target: 'approved' },
      { source: 'approved', target: 'release', condition_value: 'true' },
      { source: 'approved', target: 'rework', condition_value: 'false' },
      { source: 'release', target: 'outcome' },
      { source: 'rework', target: 'outcome' },
    ],
  },
  checks: [
    { name: 'names the document', type: 'expression', value: 'title in outcome' },
    {
      name: 'is released only when both agree',
      type: 'expression',
      value: "not starts_with(decision, 'Released') or approved.result",
    },
    { name: 'thanks the reviewers', type: 'contains', target: 'outcome', value: 'thank you' },
  ],
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string', title: 'Title', minLength: 1 },
      text: { type: 'string', title: 'Text of the document', minLength: 1 },
    },
    required: ['title', 'text'],
    additionalProperties: false,
  },
  sampleInput: {
    title: 'Delivery terms',
    text: 'We deliver within two days. If we are late, the next delivery is free.',
  },
};
