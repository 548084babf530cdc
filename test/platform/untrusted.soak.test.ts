import { describe, expect, jest, test } from '@jest/globals';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import type { CheckedRun } from '#shared/graph/checks.ts';
import { evaluateChecksUntrusted } from '#shared/platform/threads/run-checks.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  answerUntrusted,
  argumentsUntrusted,
  checkGraphUntrusted,
  checkPolicyPatterns,
  diffGraphsUntrusted,
  evaluateUntrusted,
  judgeUntrusted,
  schemaProblem,
  schemaProblems,
} from '#shared/platform/threads/untrusted.ts';
import { WorkBusyError } from '#shared/platform/threads/threads.ts';
import { compilePolicies } from '#shared/policies/judge.ts';
import { builtinTools } from '#shared/tools.ts';
import { onMainThread } from '#test/support/main-thread.ts';

// Limits of jobs are in processor time, which can take a while on a busy machine.
jest.setTimeout(180_000);

const WORKSPACE = 'ws_hostile';
/** The linear worst case of any engine: there is no match, and every match is possible up to the end. */
const COSTLY = '(?i)(?:a[ab]{0,30}){0,8}c';

let seed = 1;
const unordered = (length: number): string =>
  Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed > 1_073_741_824 ? 'a' : 'b';
  }).join('');

describe('the main thread stays free during', () => {
  const run: CheckedRun = {
    state: { text: unordered(40_000) },
    output: {},
    cost_usd: 0,
    duration_ms: 1,
  };

  test('a hundred checks of a run with a shared budget', async () => {
    const checks = Array.from({ length: 100 }, (_, n): EvaluationCheck => ({
      name: `check ${n}`,
      type: 'regex',
      target: 'text',
      value: `${COSTLY}${n}`,
    }));
    const { result, share } = await onMainThread(() =>
      evaluateChecksUntrusted(WORKSPACE, checks, run),
    );
    expect(share).toBeLessThan(0.5);
    expect([result.total, result.passed]).toEqual([100, 0]);
    expect(result.results[99]).toMatchObject({
      name: 'check 99',
      passed: false,
      message: expect.stringMatching(
        /Not evaluated: the checks before it used up|could not be evaluated/,
      ),
    });
  });

  test('a costly expression, whose error gives advice', async () => {
    const long = unordered(1_000_000);
    const { result, share } = await onMainThread(() =>
      evaluateUntrusted(WORKSPACE, `matches(text, '${COSTLY}')`, { text: long }),
    );
    expect(share).toBeLessThan(0.5);
    expect(result).toEqual({
      problem: expect.stringContaining('use a simpler pattern or a shorter text'),
    });
  });

  test('patterns from the state that are costly to compile', async () => {
    const state = { p: `(?i)${'[ -\uffff]'.repeat(190)}`, text: 'x' };
    const reads = Array.from({ length: 30 }, () => 'matches(text, p)').join(' or ');
    const { result, share } = await onMainThread(() => evaluateUntrusted(WORKSPACE, reads, state));
    expect(share).toBeLessThan(0.5);
    expect(result).toMatchObject({ problem: expect.stringContaining('too costly to compile') });
  });

  test('a search for a repetitive text', async () => {
    const state = { x: 'a'.repeat(1_000_000), y: `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}` };
    // `String.includes` would exceed the limit of a job.
    expect(await evaluateUntrusted(WORKSPACE, 'y in x', state)).toEqual({ value: false });
  });

  test('policy patterns on a large step', async () => {
    const policies: Policies = {
      ...unrestricted,
      redaction: {
        detectors: ['email', 'iban'],
        patterns: [{ name: 'costly', regex: COSTLY }],
      },
    };
    const body = unordered(400_000);
    const { result, share } = await onMainThread(() =>
      judgeUntrusted(
        WORKSPACE,
        { compiled: compilePolicies(policies), json: JSON.stringify(policies) },
        {
          workflowId: 'wf',
          node: { id: 'n', kind: 'tool', tool_name: 'http_request', params: {} },
          params: { body },
          state: {},
        },
      ),
    );
    expect(share).toBeLessThan(0.5);
    expect(result).toMatchObject({
      refusal: expect.stringMatching(/^Nothing was sent: .*costly/),
      params: {},
      stored: {},
    });
  });

  test('validation of a thousand policy patterns, whose error names the first beyond the limit', async () => {
    const pattern = `(?i)${'[\u0000-\uffff]{9}'.repeat(31)}`;
    const policies: Policies = {
      ...unrestricted,
      tools: Array.from({ length: 20 }, (_, tool) => ({
        tool: `t${tool}`,
        blocked_arguments: Array.from({ length: 50 }, (_each, n) => ({
          argument: 'a',
          pattern: `${pattern}${tool}_${n}`,
        })),
      })),
    };
    const { share } = await onMainThread(() =>
      expect(checkPolicyPatterns(WORKSPACE, policies)).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(
          /^Invalid body: tools\.\d+\.blocked_arguments\.\d+\.pattern and the patterns before it take too long to compile/,
        ),
      }),
    );
    expect(share).toBeLessThan(0.5);
  });

  test('registration of ten tools with 59 kB schemas', async () => {
    const properties = Object.fromEntries(
      // Far below the limit of a job, which a busy machine reaches sooner.
      Array.from({ length: 200 }, (_, n): [string, Json] => [
        `property_${n}`,
        { type: 'string', pattern: `^[a-z]{1,9}${n}$`, description: 'x'.repeat(220) },
      ]),
    );
    const { share } = await onMainThread(async () => {
      for (let n = 0; n < 10; n += 1) {
        expect(await schemaProblem(WORKSPACE, { title: `${n}`, properties })).toBeUndefined();
      }
    });
    expect(share).toBeLessThan(0.5);
  });

  test('schemas whose cost doubles with each line', async () => {
    const $defs: JsonObject = Object.fromEntries(
      Array.from({ length: 40 }, (_, n): [string, Json] => [
        `d${n}`,
        n === 39
          ? { type: 'string' }
          : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    const schema: JsonObject = { $ref: '#/$defs/d0', $defs };
    const { result, share } = await onMainThread(async () => [
      await argumentsUntrusted(WORKSPACE, schema, { a: 1 }),
      await answerUntrusted(WORKSPACE, schema, 5),
    ]);
    expect(share).toBeLessThan(0.5);
    expect(result).toEqual([
      { schemaProblem: expect.stringContaining('it takes more than') },
      { schemaProblem: expect.stringContaining('it takes more than') },
    ]);
  });

  test('many schemas of one graph, which share the time of one', async () => {
    const schemas = Array.from({ length: 200 }, (_, n) => ({
      isForm: true,
      schema: {
        properties: Object.fromEntries(
          Array.from({ length: 400 }, (_each, at): [string, Json] => [
            `field_${at}`,
            { type: 'string', pattern: `^[a-z]{1,9}${n}_${at}$` },
          ]),
        ),
      },
    }));
    const { result, share } = await onMainThread(() => schemaProblems(WORKSPACE, schemas));
    expect(share).toBeLessThan(0.5);
    expect(result).toEqual([
      {
        at: expect.any(Number),
        problem: expect.stringMatching(
          /^takes more than \d+ ms to check, with those before it: use a simpler one$/,
        ),
      },
    ]);
    expect(result[0]!.at).toBeGreaterThan(0);
  });

  test('validation and comparison of 1 MB graphs', async () => {
    const graph = (n: number): JsonObject => ({
      nodes: Array.from({ length: 1_000 }, (_, at) => ({
        id: `n${at}`,
        kind: 'condition',
        expression: Array.from({ length: 60 }, (_each, part) => `a${at}_${part} == ${n}`).join(
          ' or ',
        ),
      })),
      edges: [],
    });
    const context = { tools: builtinTools, customTools: new Map() };
    const { result, share } = await onMainThread(async () => ({
      report: await checkGraphUntrusted(WORKSPACE, graph(1), context),
      diff: await diffGraphsUntrusted(WORKSPACE, graph(1), graph(2)),
    }));
    expect(share).toBeLessThan(0.5);
    expect(result.report.valid).toBe(true);
    expect(result.diff.nodes.changed.length).toBe(1_000);
  });
});

test('small work ends before a flood of costly work', async () => {
  const costly = { text: unordered(300_000) };
  const flood = Promise.allSettled(
    Array.from({ length: 30 }, (_, n) =>
      evaluateUntrusted(
        `${WORKSPACE}_${n % 2}`,
        `matches(text, '(?i)(?:a[ab]{0,30}){0,1}c')`,
        costly,
      ),
    ),
  );
  let isOver = false;
  void flood.then(() => (isOver = true));
  for (let n = 0; n < 100; n += 1) {
    expect(await evaluateUntrusted('ws_other', `matches(x, '^a+$')`, { x: 'aaa' })).toEqual({
      value: true,
    });
  }
  expect(isOver).toBe(false);
  const refused = (await flood).filter(
    (each) => each.status === 'rejected' && each.reason instanceof WorkBusyError,
  );
  expect(refused.length).toBeGreaterThan(0);
});
