import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { DEMO_ORDERS } from './demo-orders.ts';
import { type BuiltInTemplate, node, offer } from './template.ts';

type Nodes = NonNullable<GraphInput['nodes']>;

/** One refund per order, so the same key finds it again. */
const REFUND_KEY = 'refund-{order_id}';
const ordersFeed = { feed_id: '{orders.data[0].id}' };
const text = { type: 'string', minLength: 1, maxLength: 500 };

/** The arguments of a refund, for the model and for the person who edits them: the amount is a number. */
const refundSchema = {
  type: 'object',
  properties: {
    feed_id: text,
    external_key: text,
    entity_type: text,
    verification_status: text,
    confidence: { type: 'number' },
    canonical_name: { ...text, description: 'Refund of order <number>' },
    attributes: {
      type: 'object',
      properties: {
        order: { ...text, description: 'The number of the order' },
        amount_usd: { type: 'number', exclusiveMinimum: 0 },
        reason: text,
      },
      required: ['order', 'amount_usd', 'reason'],
      additionalProperties: false,
    },
  },
  required: ['feed_id', 'external_key', 'entity_type', 'canonical_name', 'attributes'],
  additionalProperties: false,
};

const understanding: Nodes = [
  node('agent', 'triage', 'Understand the ticket', [0, 1], {
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
  }),
  node('condition', 'wants_refund', 'A refund of an order?', [1, 1], {
    expression:
      "triage.category == 'billing' and default(order_id, '') != '' and default(amount_usd, 0) > 0",
  }),
];

const refunding: Nodes = [
  node('tool', 'orders', 'Find the feed of orders', [2, 0], {
    tool_name: 'feed_list',
    params: { name: DEMO_ORDERS, limit: 1 },
  }),
  node('tool', 'earlier', 'Find an earlier refund', [2, 2], {
    tool_name: 'entity_search',
    params: { external_key: REFUND_KEY, entity_type: 'refund', limit: 1 },
  }),
  node('condition', 'can_refund', 'Can the agent refund it?', [3, 1], {
    expression: 'len(orders.data) > 0 and len(earlier.data) == 0',
  }),
  node('agent', 'refund', 'Look up and refund', [4, 0], {
    system_prompt:
      'You handle refunds for the support team of a software company. Look the order up first. Refund only what the ' +
      'ticket and the order justify, and at most the price of the order. Your last answer is one line for the team.',
    prompt:
      'Order: {order_id}\nThe customer asks for {amount_usd} dollars back.\nTicket: {triage.summary}',
    tools: [
      offer({
        name: 'entity_search',
        description: 'Finds an order. The external_key is the number of the order.',
        fixed: { ...ordersFeed, entity_type: 'order' },
        max_calls: 3,
      }),
      offer({
        name: 'entity_upsert',
        description: 'Refunds money for the order. A person approves or rejects each refund.',
        approval: 'always',
        title: 'Refund {args.attributes.amount_usd} USD for order {args.attributes.order}',
        fixed: {
          ...ordersFeed,
          external_key: REFUND_KEY,
          entity_type: 'refund',
          // A person approved it.
          verification_status: 'human_reviewed',
          confidence: 1,
        },
        parameters: refundSchema,
        max_calls: 2,
      }),
    ],
    max_turns: 6,
    mock: {
      turns: [
        {
          calls: [{ tool: 'entity_search', arguments: { external_key: '{order_id}' } }],
          cost_usd: 0.0011,
        },
        {
          calls: [
            {
              tool: 'entity_upsert',
              arguments: {
                canonical_name: 'Refund of order {order_id}',
                attributes: {
                  order: '{order_id}',
                  amount_usd: '{amount_usd}',
                  reason: 'The order was paid twice',
                },
              },
            },
          ],
          cost_usd: 0.0016,
        },
        { output: 'Order {order_id}: a person has decided about the refund.', cost_usd: 0.0009 },
      ],
    },
  }),
  node('tool', 'recorded', 'Read the recorded refund', [5, 0], {
    tool_name: 'entity_search',
    params: { ...ordersFeed, external_key: REFUND_KEY, limit: 1 },
  }),
  node('condition', 'is_refunded', 'Is it refunded?', [6, 1], {
    // The record counts, not what the model says about it.
    expression: 'len(recorded.data) > 0 or default(approval.approved, false)',
  }),
  node('human_gate', 'approval', 'Refund without the agent', [5, 2], {
    prompt:
      'Refund {amount_usd} dollars for order {order_id} yourself?\n\nThere is no feed of orders that the agent could ' +
      'use, or the order was refunded before.\n\nTicket: {ticket}',
  }),
];

const replying: Nodes = [
  node('tool', 'granted', 'Take the decided amount', [7, 0], {
    tool_name: 'json_transform',
    params: { expression: 'default(recorded.data[0].attributes.amount_usd, amount_usd)' },
  }),
  node('agent', 'reply_refund', 'Announce the refund', [8, 0], {
    prompt:
      'Write to the customer that {granted} dollars for order {order_id} come back within five days.',
    output_key: 'reply',
    mock: {
      output:
        'Thank you for writing to us. We return {granted} dollars to your card within five days.',
      cost_usd: 0.0018,
    },
  }),
  node('agent', 'reply_decline', 'Decline with reasons', [8, 2], {
    prompt: 'Write to the customer, politely, that there is no refund for: {triage.summary}',
    output_key: 'reply',
    mock: {
      output:
        'Thank you for your patience. We looked into it and found your payments to be in order.',
      cost_usd: 0.0018,
    },
  }),
  node('agent', 'reply_standard', 'Answer right away', [8, 3], {
    prompt: 'Answer this ticket: {ticket}',
    output_key: 'reply',
    mock: {
      output: 'Thank you for writing. Here is how: open Settings, then Billing, and choose Edit.',
      cost_usd: 0.0018,
    },
  }),
  node('tool', 'answer', 'Sign the answer', [9, 1], {
    tool_name: 'json_transform',
    params: { expression: "reply + '\n\nYour support team'" },
  }),
];

/**
 *                           ┌─ orders ──┐             true ┌─ refund ── recorded ─┐              true ┌─ granted ── reply_refund ─┐
 *                      true │           ├── can_refund ────┤                      ├── is_refunded ────┤                           │
 *   triage ── wants_refund ─┼─ earlier ─┘            false └─ approval ───────────┘             false └─ reply_decline ───────────┤
 *                     false └─ reply_standard ──────────────────────────────────────────────────────────────────────────────────────┴── answer
 */
export const supportTriage: BuiltInTemplate = {
  id: 'tpl_support-triage',
  name: 'Support triage',
  description:
    'Sorts a support ticket. For a refund, an agent looks the order up in a feed and asks a person before it records ' +
    'the refund there; the person can change the amount. Without such a feed, or if the order was refunded before, a ' +
    'person decides alone. Input: ticket (text), order_id (text, optional), amount_usd (number, optional: what the ' +
    'customer asks for). Put the name of your feed into "Find the feed of orders". Shows: an agent with tools, an ' +
    'approval of exact arguments, conditions, a human gate with both ways out, an answer with a schema.',
  graph: {
    nodes: [...understanding, ...refunding, ...replying],
    edges: [
      { source: 'triage', target: 'wants_refund' },
      { source: 'wants_refund', target: 'orders', condition_value: 'true' },
      { source: 'wants_refund', target: 'earlier', condition_value: 'true' },
      { source: 'wants_refund', target: 'reply_standard', condition_value: 'false' },
      { source: 'orders', target: 'can_refund' },
      { source: 'earlier', target: 'can_refund' },
      { source: 'can_refund', target: 'refund', condition_value: 'true' },
      { source: 'can_refund', target: 'approval', condition_value: 'false' },
      { source: 'refund', target: 'recorded' },
      { source: 'recorded', target: 'is_refunded' },
      { source: 'is_refunded', target: 'granted', condition_value: 'true' },
      { source: 'is_refunded', target: 'reply_decline', condition_value: 'false' },
      { source: 'approval', target: 'is_refunded', condition_value: 'true' },
      { source: 'approval', target: 'is_refunded', condition_value: 'false' },
      { source: 'granted', target: 'reply_refund' },
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
    order_id: 'A-1042',
    amount_usd: 240,
  },
};
