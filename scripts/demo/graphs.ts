import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';

/** The graphs of the tour in docs/tour.md. The first is slow enough to open a socket while it runs. */
export const answerTickets: GraphInput = {
  nodes: [
    {
      id: 'draft',
      kind: 'agent',
      prompt: 'Answer: {ticket}',
      mock: { output: 'About "{ticket}": it is fixed.', cost_usd: 0.002, delay_ms: 500 },
    },
    { id: 'review', kind: 'human_gate', prompt: 'Send this? {draft}' },
    {
      id: 'send',
      kind: 'tool',
      tool_name: 'json_transform',
      params: { expression: "draft + ' ' + default(note, '')" },
    },
  ],
  edges: [
    { source: 'draft', target: 'review' },
    { source: 'review', target: 'send' },
  ],
};

/** Uses an invalid operator and an unknown tool, to show validation errors. */
export const mistaken: GraphInput = {
  nodes: [
    { id: 'draft', kind: 'condition', expression: "ticket = 'urgent'" },
    { id: 'send', kind: 'tool', tool_name: 'send_pigeon' },
  ],
  edges: [{ source: 'draft', target: 'sent' }],
};

export const checks: EvaluationCheck[] = [
  { name: 'answers the ticket', type: 'contains', target: 'send', value: 'charged twice' },
  { name: 'costs a cent at most', type: 'max_cost_usd', value: 0.01 },
];

export const bookPayment: GraphInput = {
  nodes: [
    { id: 'net', kind: 'tool', tool_name: 'json_transform', params: { expression: 'gross - fee' } },
    {
      id: 'book',
      kind: 'agent',
      label: 'Book it',
      prompt: 'Book {net}',
      mock: { output: 'booked {net}', fail_times: 1 },
    },
  ],
  edges: [{ source: 'net', target: 'book' }],
};
