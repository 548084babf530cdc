import { at, type BuiltInTemplate } from './template.ts';

/**
 *                              true                    true ┌─ reply_refund ──┐
 *                           ┌──────── draft ── approval ────┤                 │
 *   triage ── is_large_refund                         false └─ reply_decline ─┤
 *                           └─────────────── reply_standard ──────────────────┴── answer
 *                              false
 */
export const supportTriage: BuiltInTemplate = {
  id: 'tpl_support-triage',
  name: 'Support triage',
  description:
    'Sorts a support ticket. Refunds above 100 dollars get a draft that a person approves or rejects; everything ' +
    'else is answered at once. Input: ticket (text), amount_usd (number, optional). Shows: a condition, a human gate ' +
    'with both ways out, an answer with a schema.',
  graph: {
    nodes: [
      {
        id: 'triage',
        kind: 'agent',
        label: 'Understand the ticket',
        ...at(0, 1),
        system_prompt:
          'You sort tickets for the support team of a software company. Answer with JSON only.',
        prompt: 'Ticket:\n{ticket}',
        model: 'mock',
        temperature: 0,
        response_schema: {
          type: 'object',
          properties: {
            category: { type: 'string', enum: ['billing', 'technical', 'other'] },
            mood: { type: 'string' },
            summary: { type: 'string' },
          },
          required: ['category', 'summary'],
        },
        retry: { max_attempts: 3 },
        timeout_seconds: 60,
        mock: {
          output: { category: 'billing', mood: 'annoyed', summary: '{ticket}' },
          cost_usd: 0.0012,
        },
      },
      {
        id: 'is_large_refund',
        kind: 'condition',
        label: 'More than 100 dollars?',
        ...at(1, 1),
        expression: "triage.category == 'billing' and default(amount_usd, 0) > 100",
      },
      {
        id: 'draft',
        kind: 'agent',
        label: 'Draft the refund',
        ...at(2, 0),
        system_prompt:
          'You draft refund decisions for a person to approve. Be brief and name the amount.',
        prompt:
          'The customer writes: {triage.summary}\nThe amount is {amount_usd} dollars. Draft the decision.',
        mock: {
          output: 'Refund {amount_usd} dollars: the second charge has no order behind it.',
          cost_usd: 0.0031,
        },
      },
      {
        id: 'approval',
        kind: 'human_gate',
        label: 'Approve the refund',
        ...at(3, 0),
        prompt: 'Refund {amount_usd} dollars?\n\nTicket: {ticket}\n\nProposal: {draft}',
      },
      {
        id: 'reply_refund',
        kind: 'agent',
        label: 'Announce the refund',
        ...at(4, 0),
        prompt: 'Write to the customer that this was decided: {draft}',
        output_key: 'reply',
        mock: {
          output:
            'Thank you for telling us. We return {amount_usd} dollars to your card within five days.',
          cost_usd: 0.0018,
        },
      },
      {
        id: 'reply_decline',
        kind: 'agent',
        label: 'Decline with reasons',
        ...at(4, 1),
        prompt: 'Write to the customer, politely, that there is no refund for: {triage.summary}',
        output_key: 'reply',
        mock: {
          output:
            'Thank you for your patience. We looked into it and found both charges to be in order.',
          cost_usd: 0.0018,
        },
      },
      {
        id: 'reply_standard',
        kind: 'agent',
        label: 'Answer right away',
        ...at(3, 2),
        prompt: 'Answer this ticket: {ticket}',
        output_key: 'reply',
        mock: {
          output:
            'Thank you for writing. Here is how: open Settings, then Billing, and choose Edit.',
          cost_usd: 0.0018,
        },
      },
      {
        id: 'answer',
        kind: 'tool',
        label: 'Sign the answer',
        ...at(5, 1),
        tool_name: 'json_transform',
        params: { expression: "reply + '\n\nYour support team'" },
      },
    ],
    edges: [
      { source: 'triage', target: 'is_large_refund' },
      { source: 'is_large_refund', target: 'draft', condition_value: 'true' },
      { source: 'is_large_refund', target: 'reply_standard', condition_value: 'false' },
      { source: 'draft', target: 'approval' },
      { source: 'approval', target: 'reply_refund', condition_value: 'true' },
      { source: 'approval', target: 'reply_decline', condition_value: 'false' },
      { source: 'reply_refund', target: 'answer' },
      { source: 'reply_decline', target: 'answer' },
      { source: 'reply_standard', target: 'answer' },
    ],
  },
  checks: [
    { name: 'thanks the customer', type: 'contains', target: 'answer', value: 'thank you' },
    { name: 'promises nothing forever', type: 'not_contains', target: 'answer', value: 'lifetime' },
    { name: 'is signed', type: 'regex', target: 'answer', value: 'support team$' },
    { name: 'costs less than two cents', type: 'max_cost_usd', value: 0.02 },
  ],
  sampleInput: {
    ticket: 'I was charged twice for the yearly plan. Please return the second payment.',
    amount_usd: 240,
  },
};
