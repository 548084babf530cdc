import type { JsonObject } from '#shared/json.ts';
import { DEMO_ORDERS } from './demo-orders.ts';
import { type BuiltInTemplate, node, offer } from './template.ts';

const chosenFeed = { feed_id: '{found.data[0].id}' };

/** A corrected order of the demo data: the whole record, since omitted fields get their defaults. */
const corrected = (
  number: string,
  { attributes, city }: { attributes: JsonObject; city: string },
): JsonObject => ({
  external_key: number,
  entity_type: 'order',
  canonical_name: `Order ${number}`,
  attributes,
  external_ids: { order_number: number },
  geography: { city, country: 'US' },
  verification_status: 'human_reviewed',
  confidence: 1,
  source_evidence: [
    {
      source_name: 'Data steward',
      url: `https://shop.example.com/orders/${number}`,
      synthetic: true,
    },
  ],
});

const proposals: JsonObject[] = [
  // It had no country.
  corrected('A-1038', {
    attributes: {
      customer: 'Foundry Partners 16',
      product: 'Yearly plan',
      amount_usd: 240,
      payments: 1,
      status: 'paid',
    },
    city: 'Portland',
  }),
  // Its status was misspelled.
  corrected('A-1040', {
    attributes: {
      customer: 'Riverside Development 33',
      product: 'Monthly plan',
      amount_usd: 24,
      payments: 1,
      status: 'paid',
    },
    city: 'Phoenix',
  }),
];

/**
 *                       true ┌─ steward ──┐
 *   found ── has_feed ───────┤            ├── report
 *                      false └─ no_feed ──┘
 */
export const dataSteward: BuiltInTemplate = {
  id: 'tpl_data-steward',
  name: 'Data steward',
  description:
    'Reads a feed of the data API, looks for mistakes, and proposes corrections. A person approves, edits or rejects ' +
    'each of them before it is written. Input: feed (text: the name of the feed), task (text: what to look for). Run ' +
    'it on a schedule. Shows: an agent with tools, several approvals at the same time, arguments that can be edited.',
  graph: {
    nodes: [
      node('tool', 'found', 'Find the feed', [0, 1], {
        tool_name: 'feed_list',
        params: { name: '{feed}', limit: 1 },
      }),
      node('condition', 'has_feed', 'Is there such a feed?', [1, 1], {
        expression: 'len(found.data) > 0',
      }),
      node('agent', 'steward', 'Look for mistakes', [2, 0], {
        system_prompt:
          'You keep a feed of records correct. Read the state of the feed and its records, and propose each correction ' +
          'as one call. A person decides about each. A rejection says why; do not repeat what was rejected.',
        prompt: 'Feed: {found.data[0].name}\nTask: {task}',
        output_key: 'summary',
        tools: [
          offer({ name: 'feed_list', fixed: { name: '{feed}' }, max_calls: 2 }),
          offer({ name: 'entity_search', fixed: chosenFeed, max_calls: 5 }),
          offer({
            name: 'entity_upsert',
            description:
              'Proposes a correction of a record: give the whole record, with the change. It is written after a ' +
              'person has approved it.',
            approval: 'always',
            title: 'Correct {args.canonical_name}',
            fixed: chosenFeed,
            max_calls: 5,
          }),
        ],
        max_turns: 8,
        on_max_turns: 'answer',
        mock: {
          turns: [
            {
              calls: [
                { tool: 'feed_list', arguments: {} },
                { tool: 'entity_search', arguments: { entity_type: 'order', limit: 20 } },
              ],
              cost_usd: 0.0024,
            },
            {
              calls: proposals.map((record) => ({ tool: 'entity_upsert', arguments: record })),
              cost_usd: 0.0046,
            },
            {
              output:
                'I proposed two corrections in {found.data[0].name}: a missing country and a misspelled status. ' +
                'The approved ones are written.',
              cost_usd: 0.0013,
            },
          ],
        },
      }),
      node('tool', 'no_feed', 'Say that there is none', [2, 2], {
        tool_name: 'json_transform',
        params: { expression: "'There is no feed called ' + feed + '.'" },
        output_key: 'summary',
      }),
      node('tool', 'report', 'Report', [3, 1], {
        tool_name: 'json_transform',
        params: { expression: "'Task: ' + task + '\n\n' + summary" },
      }),
    ],
    edges: [
      { source: 'found', target: 'has_feed' },
      { source: 'has_feed', target: 'steward', condition_value: 'true' },
      { source: 'has_feed', target: 'no_feed', condition_value: 'false' },
      { source: 'steward', target: 'report' },
      { source: 'no_feed', target: 'report' },
    ],
  },
  checks: [
    { name: 'names the feed', type: 'expression', value: 'contains(report, feed)' },
    { name: 'costs less than two cents', type: 'max_cost_usd', value: 0.02 },
  ],
  sampleInput: {
    feed: DEMO_ORDERS,
    task: 'Find orders with a missing country or an unknown status.',
  },
};
