import { detectorNames, type Policies } from '#shared/contract/policies/policy.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';

const promptLength = 20_000;
const samples = 300;
const warmUp = 50;

/** Typical policies of a team with a data protection officer. */
const policies: Policies = {
  model_allowlist: ['mock', 'openai/gpt-5', 'openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'],
  tools: [
    { tool: 'http_request', blocked_arguments: [{ argument: 'method', values: ['DELETE'] }] },
  ],
  redaction: {
    detectors: [...detectorNames],
    patterns: [
      { name: 'employee', regex: '\\bEMP-\\d{6}\\b' },
      { name: 'project', regex: '(?i)project\\s+(falcon|eagle)' },
    ],
  },
  limits: [],
};

/** Typical ticket text: some of it personal, most of it not. */
const ticket =
  'Order 4711-2026 of 2026-11-02 for EMP-104233, jane.doe@example.com, phone +49 30 1234567, came to 1,312.50 EUR. ' +
  'The parcel left our warehouse in time, yet the customer says that it has not arrived, and asks what to do next. ' +
  'Reference 550e8400-e29b-41d4-a716-446655440000, card 4111 1111 1111 1111, last seen from 192.168.10.4 at 09:30. ';

/**
 * The cost that all detectors and two patterns add to an agent step with a long prompt. In this process, no servers.
 */
export async function policy(): Promise<Result[]> {
  const compiled = compilePolicies(policies);
  const prompt = ticket.repeat(Math.ceil(promptLength / ticket.length)).slice(0, promptLength);
  const judge = (text: string): number => {
    const step = {
      workflowId: 'wf_bench',
      node: { id: 'ask', kind: 'agent', model: 'openai/gpt-5' } as const,
      params: { prompt: text },
      state: {},
    };
    const began = performance.now();
    judgeStep(compiled, step);
    return performance.now() - began;
  };
  const times: number[] = [];
  for (let n = -warmUp; n < samples; n += 1) {
    // The text is always different, so that no cache applies.
    const time = judge(`${n} ${prompt}`);
    if (n >= 0) times.push(time);
  }
  return [
    compare({
      measure: 'policies and redaction of an agent step, prompt of 20 kB',
      unit: 'ms',
      ours: figure(times),
      bound: atMost(5, 1),
      notes: [`${detectorNames.length} detectors, ${policies.redaction.patterns.length} patterns`],
    }),
  ];
}
