import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  draftOf,
  linesOf,
  policiesOf,
  valuesOf,
} from '#console/src/pages/policies/policy-draft.ts';
import type { Policies } from '#client/index.ts';

describe('policies as form values', () => {
  test('convert to the form and back unchanged', () => {
    const policies: Policies = {
      model_allowlist: ['mock', 'openai/gpt-5-mini'],
      tools: [
        { tool: 'send_email', allowed_workflow_ids: [] },
        { tool: 'delay' },
        {
          tool: 'http_request',
          blocked_arguments: [
            { argument: 'method', values: ['DELETE', 5, '5', null, ['a'], ''] },
            { argument: 'url', pattern: '^https?://' },
          ],
        },
      ],
      redaction: { detectors: ['email'], patterns: [{ name: 'employee', regex: 'EMP-\\d+' }] },
      limits: [
        { models: ['openai/*', 'mock'], concurrency: 5 },
        { tools: ['http_request'], per_minute: 60, key: '{args.body.customer}' },
        { tools: ['mcp'], concurrency: 1, per_minute: 10 },
      ],
    };
    expect(policiesOf(draftOf(policies))).toEqual(policies);
    const none: Policies = {
      model_allowlist: null,
      tools: [],
      redaction: { detectors: [], patterns: [] },
      limits: [],
    };
    expect(policiesOf(draftOf(none))).toEqual(none);
  });

  test('quote text only if it would be read as another type', () => {
    expect(linesOf(['DELETE', '5', 5, 'true', true, ' a', 'two\nlines', { a: 1 }])).toBe(
      ['DELETE', '"5"', '5', '"true"', 'true', '" a"', '"two\\nlines"', '{"a":1}'].join('\n'),
    );
    expect(valuesOf('DELETE\n\n  5 \n"5"\n{"a": 1}\n{"a"')).toEqual([
      'DELETE',
      5,
      '5',
      { a: 1 },
      '{"a"',
    ]);
  });

  test('keep any JSON value', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const sent = JSON.parse(JSON.stringify(values)) as unknown[];
        expect(valuesOf(linesOf(sent))).toEqual(sent);
      }),
    );
  });
});
