import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Policies, policiesInput } from '#shared/contract/policies/policy.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  compareStep,
  compareUnjudged,
  type RecordedStep,
  redactedByBoth,
  toTest,
} from '#shared/policies/backtest.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';

const budget = () => ({ budget: { work: 100_000_000 } });
const tested = (policies: Policies, inForce: Policies = policies) =>
  toTest(
    policies,
    compilePolicies(policies, { keepMarks: true }),
    redactedByBoth(policies, inForce),
  );

/** A step as the ledger has it after it was judged by policies. */
function recorded(
  policies: Policies,
  { tool, params }: { tool?: string; params: JsonObject },
): RecordedStep {
  const node =
    tool === undefined
      ? ({ id: 'n', kind: 'agent', model: 'mock' } as const)
      : ({ id: 'n', kind: 'tool', tool_name: tool, params: {} } as const);
  const step = { workflowId: 'wf_1', node, params, state: {} };
  const { stored, verdicts, refusal = null } = judgeStep(compilePolicies(policies), step);
  return {
    ...{ run_id: 'run_1', workflow_id: 'wf_1', step_key: 'n', node_id: 'n', kind: node.kind },
    ...{ tool: tool ?? null, aliases: [], part: false, model: null, verdicts, refusal },
    input: node.kind === 'agent' ? { model: node.model, ...stored } : stored,
  };
}

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom(
    ...['ann@example.com', 'KP', 'EMP-123456', '4111 1111 1111 1111', '[REDACTED:email]'],
    ...[
      'call +49 30 1234567 or a@example.com',
      'EMP-123456@example.com',
      'POST',
      'DE89 3704 0044 0532 0130 00',
    ],
  ),
);
const value: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.integer(),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('country', 'to', 'note'), text),
);
const params = fc.dictionary(fc.constantFrom('to', 'body', 'url', 'prompt', 'method'), value);
const step = fc.record(
  { tool: fc.constantFrom('http_request', 'send_email', 'custom:crm'), params },
  { requiredKeys: ['params'] },
);
const some = <T>(items: readonly T[]) => fc.subarray([...items]);
const policies: fc.Arbitrary<Policies> = fc
  .record({
    model_allowlist: fc.constantFrom(null, ['mock'], []),
    tools: some([
      { tool: 'http_request', blocked_arguments: [{ argument: 'body.country', values: ['KP'] }] },
      { tool: 'send_email', allowed_workflow_ids: [] },
      { tool: 'custom:crm', blocked_arguments: [{ argument: 'to', pattern: '@example' }] },
    ]),
    redaction: fc.record({
      detectors: some(['email', 'phone', 'credit_card', 'iban'] as const),
      patterns: some([
        { name: 'employee', regex: '\\bEMP-\\d{6}\\b' },
        { name: 'marks', regex: '[A-Z:]{6,}' },
      ]),
    }),
  })
  .map((given) => policiesInput.parse(given));

describe('a step that is compared with its own judgment', () => {
  test('never differs under equal policies', () => {
    fc.assert(
      fc.property(policies, step, (given, data) => {
        const compared = compareStep(tested(given), recorded(given, data), budget());
        expect(['same', 'hidden']).toContain(compared);
      }),
      { numRuns: 3_000 },
    );
  });

  test('differs like a new judgment if nothing was redacted before', () => {
    fc.assert(
      fc.property(policies, step, (given, data) => {
        const none = policiesInput.parse({});
        const before = recorded(none, data);
        fc.pre(data.tool !== undefined || data.params['prompt'] !== undefined);
        fc.pre(!JSON.stringify(before.input).includes('[REDACTED:'));
        const now = recorded(given, data);
        const expected =
          now.refusal !== null ? 'would_block' : now.verdicts.length > 0 ? 'would_redact' : 'same';
        const compared = compareStep(tested(given, none), before, budget());
        expect(typeof compared === 'string' ? compared : compared.effect).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });
});

const none = policiesInput.parse({});
const redacting = (redaction: object) => policiesInput.parse({ redaction });

describe('redacted data', () => {
  const data = { tool: 'custom:crm', params: { note: 'ann@example.com and EMP-123456' } };
  const employee = (regex: string) => redacting({ patterns: [{ name: 'employee', regex }] });

  test('is hidden if a pattern with the same name has changed', () => {
    const before = recorded(employee('EMP-\\d{6}'), data);
    const compared = (now: Policies) =>
      compareStep(tested(now, employee('EMP-\\d{6}')), before, budget());
    expect(compared(employee('EMP-\\d{6}'))).toBe('same');
    expect(compared(employee('EMP-\\d{5}'))).toBe('hidden');
    expect(compared(none)).toMatchObject({
      effect: 'would_allow',
      before: 'redacted',
      after: 'allowed',
    });
  });

  test('would be sent in part if part of the redaction remains', () => {
    const both = policiesInput.parse({
      redaction: { detectors: ['email'], patterns: [{ name: 'employee', regex: 'EMP-\\d{6}' }] },
    });
    const now = redacting({ detectors: ['email'] });
    expect(compareStep(tested(now, both), recorded(both, data), budget())).toMatchObject({
      effect: 'would_allow',
      before: 'redacted',
      after: 'redacted',
      reason: '1 value (1 employee) would no longer be redacted',
    });
  });

  test('is also searched for in the result of a call', () => {
    const call = { ...recorded(none, data), part: true, result: { mail: 'bob@example.com' } };
    const now = redacting({ detectors: ['email'] });
    expect(compareStep(tested(now, none), call, budget())).toMatchObject({
      effect: 'would_redact',
      reason: '2 values (2 email) would be redacted',
    });
  });
});

describe('data that is not stored', () => {
  test('hides an agent without a prompt from redaction, but not from the list of models', () => {
    const asked = recorded(none, { params: {} });
    expect(compareStep(tested(redacting({ detectors: ['email'] })), asked, budget())).toBe(
      'hidden',
    );
    expect(compareStep(tested(none), asked, budget())).toBe('same');
    const listed = policiesInput.parse({ model_allowlist: ['openai/gpt-5'] });
    expect(compareStep(tested(listed), asked, budget())).toMatchObject({ effect: 'would_block' });
  });

  test('hides a step whose data was withheld, and one whose node is unknown', () => {
    const withheld = {
      ...recorded(none, { tool: 'custom:crm', params: {} }),
      refusal: 'Nothing was sent: it takes too long',
    };
    expect(compareStep(tested(none), withheld, budget())).toBe('hidden');
    expect(compareStep(tested(none), { ...withheld, tool: null }, budget())).toBe('hidden');
  });

  test('of a step that cannot be judged in time counts as refused', () => {
    const sent = recorded(none, { tool: 'custom:crm', params: {} });
    expect(compareUnjudged(sent, 'it takes more than 2000 ms')).toMatchObject({
      effect: 'would_block',
      after: 'blocked',
      reason:
        "Nothing was sent: looking through it by the workspace's policies failed: it takes more than 2000 ms",
    });
  });
});
