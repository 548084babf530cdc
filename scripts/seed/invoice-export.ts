import { node } from '#shared/templates/template.ts';
import type { Example } from './example.ts';

/**
 *   total ── summary ── upload ── receipt
 *                       fails once
 */
export const invoiceExport: Example = {
  name: 'Invoice export',
  description:
    'Hands the invoices of a month over to accounting. The hand-over fails the first time and the run with it; resume ' +
    'the run and it goes on from there, without repeating what was done before. Input: month (text), invoices ' +
    '({gross, credit}). Shows: a failed run, and what a resume does and does not execute.',
  graph: {
    nodes: [
      node('tool', 'total', 'Add up the invoices', [0, 0], {
        tool_name: 'json_transform',
        params: { expression: 'round(invoices.gross - invoices.credit, 2)' },
      }),
      node('agent', 'summary', 'Describe the month', [1, 0], {
        prompt: 'Describe {month} in one sentence for accounting. Net total: {total} dollars.',
        mock: {
          output: 'In {month} we invoiced {total} dollars net of credits.',
          cost_usd: 0.0014,
        },
      }),
      node('agent', 'upload', 'Hand over to accounting', [2, 0], {
        // Simulates a system that is down at night: there is one attempt and no retry, so the run fails and waits for a
        // person.
        prompt: 'Hand over: {summary}',
        retry: { max_attempts: 1 },
        mock: {
          output: { accepted: true, reference: 'ACC-{month}' },
          cost_usd: 0.0008,
          fail_times: 1,
        },
      }),
      node('tool', 'receipt', 'Note the receipt', [3, 0], {
        tool_name: 'json_transform',
        params: { expression: "'Accounting took ' + month + ' as ' + upload.reference" },
      }),
    ],
    edges: [
      { source: 'total', target: 'summary' },
      { source: 'summary', target: 'upload' },
      { source: 'upload', target: 'receipt' },
    ],
  },
  checks: [
    { name: 'was accepted', type: 'expression', value: 'upload.accepted' },
    { name: 'has a reference', type: 'regex', target: 'receipt', value: 'ACC-\\d{4}-\\d{2}' },
  ],
  runs: [
    {
      key: 'example-invoices',
      input: { month: '2026-10', invoices: { gross: 48_210.5, credit: 1_310.25 } },
      ends: 'failed',
    },
  ],
};
