import { type BuiltInTemplate, node } from './template.ts';

/**
 *            ┌────────── each invoice ──────────┐          true ┌─ paid
 *   invoices ┤ check ── total ── (error) unclear ├── approve ───┤
 *            └───────────────────────────────────┘         false └─ held
 */
export const invoiceBatch: BuiltInTemplate = {
  id: 'tpl_invoice-batch',
  name: 'Invoice batch',
  description:
    'Checks a list of invoices side by side and adds them up. An invoice whose amounts are unclear becomes a line of its ' +
    'own, and does not stop the others. A person approves the batch with a form. Input: invoices (a list of objects with ' +
    'supplier, text, net, tax). Shows: a map, error edges, a gate with a form and a deadline.',
  graph: {
    nodes: [
      node('map', 'each', 'Each invoice', [0, 0], {
        items: 'invoices',
        concurrency: 5,
        output_key: 'lines',
      }),
      node('agent', 'check', 'Check the invoice', [1, 0], {
        prompt: 'Does anything about this invoice look unusual?\n\n{each.item.text}',
        mock: { output: 'Nothing unusual about “{each.item.text}”.', cost_usd: 0.0012 },
      }),
      node('tool', 'total', 'Add it up', [2, 0], {
        tool_name: 'json_transform',
        params: {
          expression: '[each.item.supplier, round(each.item.net + each.item.tax, 2)]',
        },
      }),
      node('tool', 'unclear', 'Note what is unclear', [2, 1], {
        tool_name: 'json_transform',
        params: { expression: '[each.item.supplier, total.error.message]' },
      }),
      node('human_gate', 'approve', 'Pay the batch?', [3, 0], {
        prompt: 'Pay these invoices?\n\n{lines}',
        input_schema: {
          type: 'object',
          properties: {
            pay_on: { type: 'string', title: 'Pay on', description: 'A date; empty: when due' },
            note: { type: 'string', title: 'Note for the accountants' },
          },
          additionalProperties: false,
        },
        timeout_seconds: 604_800,
        on_timeout: 'reject',
      }),
      node('tool', 'paid', 'Release the payment', [4, 0], {
        tool_name: 'json_transform',
        params: { expression: "'Payment: ' + default(pay_on, 'when due')" },
        output_key: 'decision',
      }),
      node('tool', 'held', 'Hold the payment', [4, 1], {
        tool_name: 'json_transform',
        params: { expression: "'No payment'" },
        output_key: 'decision',
      }),
    ],
    edges: [
      { source: 'each', target: 'check', condition_value: 'true' },
      { source: 'check', target: 'total' },
      { source: 'total', target: 'each' },
      { source: 'total', target: 'unclear', condition_value: 'error' },
      { source: 'unclear', target: 'each' },
      { source: 'each', target: 'approve' },
      { source: 'approve', target: 'paid', condition_value: 'true' },
      { source: 'approve', target: 'held', condition_value: 'false' },
    ],
  },
  checks: [
    { name: 'every invoice has a line', type: 'expression', value: 'len(lines) == len(invoices)' },
    { name: 'stays cheap', type: 'max_cost_usd', value: 0.05 },
  ],
  sampleInput: {
    invoices: [
      { supplier: 'Paper Mill', text: '40 boxes of paper', net: 400, tax: 76 },
      { supplier: 'Print Shop', text: 'Business cards', net: 120, tax: 22.8 },
      { supplier: 'Courier', text: 'Three deliveries, amount to follow', tax: 5.7 },
    ],
  },
};
