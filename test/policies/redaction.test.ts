import { describe, expect, test } from '@jest/globals';
import { detectorNames, type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { compileRedaction, RedactionError } from '#shared/policies/redaction.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const begin = (redaction: Partial<Policies['redaction']>) => {
  const redactor = compileRedaction({ detectors: [], patterns: [], ...redaction });
  if (redactor === undefined) throw new Error('nothing to redact');
  return redactor();
};

describe('redaction', () => {
  test('is undefined without detectors and patterns', () => {
    expect(compileRedaction({ detectors: [], patterns: [] })).toBeUndefined();
  });

  test('changes strings at any depth and long numbers, but not keys and other values', () => {
    const redaction = begin({ detectors: [...detectorNames] });
    const value: Json = {
      'a@example.com': 1,
      list: ['b@example.com', { deep: 'call +49 30 1234567' }, 4111111111111111, 12.5, null, true],
    };
    expect(redaction.redact(value)).toEqual({
      'a@example.com': 1,
      list: [
        '[REDACTED:email]',
        { deep: 'call [REDACTED:phone]' },
        '[REDACTED:credit_card]',
        12.5,
        null,
        true,
      ],
    });
    expect(Object.fromEntries(redaction.counts)).toEqual({ email: 1, phone: 1, credit_card: 1 });
  });

  test('returns the same object if nothing is found', () => {
    const value = { a: ['nothing', { here: 1 }] };
    expect(begin({ detectors: [...detectorNames] }).redact(value)).toBe(value);
  });

  const fullWidth = (text: string) =>
    text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
  const digitsFrom = (zero: number) => (text: string) =>
    text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  test.each([
    ['full-width forms', fullWidth],
    ['Arabic digits', digitsFrom(0x660)],
    ['Devanagari digits', digitsFrom(0x966)],
    ['mathematical digits', digitsFrom(0x1d7ec)],
    ['no-break spaces', (text: string) => text.replace(/ /g, '\u00a0')],
    ['no-break hyphens', (text: string) => text.replace(/-/g, '\u2011')],
    ['invisible characters', (text: string) => text.replace(/(?<=\w)(?=\w)/g, '\u200b')],
  ])('finds values in %s, and nothing around them', (_, write) => {
    const redaction = begin({ detectors: [...detectorNames] });
    const values = {
      credit_card: '4111 1111 1111 1111',
      ssn: '123-45-6789',
      iban: 'DE89 3704 0044 0532 0130 00',
      phone: '+49 171 1234567',
      ip: '192.168.1.10',
      email: 'a7@b.example',
    };
    for (const [name, value] of Object.entries(values)) {
      expect(redaction.redact(`é: ${write(value)} 😀`)).toBe(`é: [REDACTED:${name}] 😀`);
    }
  });

  test('handles megabytes of digits', () => {
    const redaction = begin({ detectors: ['credit_card'] });
    const text = `${'1 '.repeat(2_000_000)} 4111-1111-1111-1111`;
    expect(redaction.redact(text)).toBe(`${'1 '.repeat(2_000_000)} [REDACTED:credit_card]`);
    expect(redaction.redact('9'.repeat(4_000_000))).toHaveLength(4_000_000);
  });

  test('redacts overlapping matches as one, named after the longest', () => {
    const redaction = begin({
      patterns: [
        { name: 'short', regex: 'abc' },
        { name: 'long', regex: 'cdefgh' },
        { name: 'inner', regex: 'de' },
      ],
    });
    expect(redaction.redact('--abcdefgh--abc--')).toBe('--[REDACTED:long]--[REDACTED:short]--');
    expect(Object.fromEntries(redaction.counts)).toEqual({ long: 1, short: 1 });
  });

  test('ignores empty matches, and counts a pattern named like an object property', () => {
    const redaction = begin({ patterns: [{ name: 'constructor', regex: 'x*' }] });
    expect(redaction.redact('axxb')).toBe('a[REDACTED:constructor]b');
    expect(Object.fromEntries(redaction.counts)).toEqual({ constructor: 1 });
  });

  test('refuses values that are too deep or too costly', () => {
    let deep: Json = 'x';
    for (let level = 0; level < 300; level += 1) deep = [deep];
    expect(() => begin({ detectors: ['email'] }).redact(deep)).toThrow(RedactionError);
    const patterns = [{ name: 'dear', regex: '(a|b|c|d){200}x' }];
    expect(() => begin({ patterns }).redact('abcd'.repeat(100_000))).toThrow(
      /'dear' is too costly/,
    );
  });

  soakTest('takes linear time even if every match restarts the search', () => {
    const patterns = [{ name: 'again', regex: 'a[^b]*b|a' }];
    const redacting = (length: number) => () => {
      try {
        begin({ patterns }).redact('a'.repeat(length));
      } catch (error) {
        expect(error).toBeInstanceOf(RedactionError);
      }
    };
    expect(growth(redacting, 200_000)).toBeLessThan(3);
  });
});

const judge = (policies: Partial<Policies>, node: JsonObject, params: JsonObject, state = {}) =>
  judgeStep(compilePolicies({ ...unrestricted, ...policies }), {
    workflowId: 'wf_1',
    node: { id: 'n', ...node } as never,
    params,
    state,
  });
const http = { kind: 'tool', tool_name: 'http_request' };
const mail = { kind: 'tool', tool_name: 'send_email' };
const agent = { kind: 'agent', model: 'openai/gpt-5' };

describe('a tool', () => {
  test.each([
    [undefined, undefined],
    [['wf_1', 'wf_2'], undefined],
    [['wf_2'], "Tool 'http_request' is not allowed in this workflow"],
    [[], "Tool 'http_request' is not allowed in this workflow"],
  ])('allowed in the workflows %j is judged correctly', (allowed_workflow_ids, refusal) => {
    const tools = [{ tool: 'http_request', allowed_workflow_ids }];
    const judged = judge({ tools }, http, {});
    expect(judged.refusal).toBe(refusal);
    expect(
      judged.verdicts.map((verdict) => [verdict.type, verdict.policy, verdict.decision]),
    ).toEqual(refusal === undefined ? [] : [['policy_denied', 'tool_permission', 'denied']]);
    expect(judge({ tools }, mail, {}).refusal).toBeUndefined();
  });

  const params: JsonObject = {
    method: 'delete',
    url: 'https://shop.example.net/x',
    body: {
      country: 'KP',
      amount: 5,
      tags: ['a', 'b'],
      people: [{ name: 'eve' }, { name: 'bob' }],
    },
  };
  test.each<[string, Json, boolean]>([
    ['body.country', ['KP', 'IR'], true],
    ['body.country', ['kp'], false],
    ['body.amount', [5], true],
    ['body.amount', [5.0, '6'], true],
    ['body.amount', ['5'], false],
    ['body.tags', ['b'], true],
    ['body.tags', [['a', 'b']], true],
    ['body.tags.1', ['b'], true],
    ['body.tags.0', ['b'], false],
    ['body.people.name', ['bob'], true],
    ['body.people.0.name', ['bob'], false],
    ['body.people', [{ name: 'eve' }], true],
    ['method', ['DELETE'], true],
    ['body.nothing', [null], false],
    ['body.constructor', [null], false],
  ])('with %s in %j: blocked is %s', (argument, values, blocked) => {
    const tools = [
      { tool: 'http_request', blocked_arguments: [{ argument, values: values as Json[] }] },
    ];
    const judged = judge({ tools }, http, params);
    expect(judged.refusal !== undefined).toBe(blocked);
    if (!blocked) return;
    expect(judged.verdicts).toEqual([
      {
        type: 'tool_argument_blocked',
        policy: 'tool_argument',
        decision: 'blocked',
        reason: `Argument '${argument}' of tool 'http_request' has a blocked value`,
        evidence: { tool: 'http_request', argument, rule: 'values' },
      },
    ]);
  });

  test.each<[string, string, boolean]>([
    ['url', 'example\\.net', true],
    ['url', '^example', false],
    ['body', '^eve$', true],
    ['body.amount', '^5$', true],
    ['body.people.name', 'o', true],
  ])('with %s matching %j: blocked is %s', (argument, pattern, blocked) => {
    const tools = [{ tool: 'http_request', blocked_arguments: [{ argument, pattern }] }];
    expect(judge({ tools }, http, params).refusal !== undefined).toBe(blocked);
  });

  const mcp = { kind: 'tool', tool_name: 'mcp' };
  const chat = { kind: 'tool', tool_name: 'send_chat_message' };
  const spellings: string[] = [
    'http://blocked.example:18802/admin',
    'HTTP://BLOCKED.Example:18802/admin',
    'http://blocked.example:18802/admin?x',
    'http://blocked.example:18802/admin#x',
    'http://blocked.example:018802/admin',
    'http://blocked.example:00018802/admin',
    'http:\\\\blocked.example:18802\\admin',
    'http:blocked.example:18802/admin',
    'http:///blocked.example:18802/admin',
    'http://bl%6fcked.example:18802/admin',
    'http://blocked.example:18802/%61dmin',
    'http://ｂｌｏｃｋｅｄ.example:18802/admin',
    'http://blocked。example:18802/admin',
    'http://blo\u00adcked.example:18802/admin',
    'http://blocked.example.:18802/admin',
    'http://user:pass@blocked.example:18802/admin',
    'http://good.example@blocked.example:18802/admin',
    'http://blocked.example:18802/./a/../admin',
    'http://blocked.example:18802/%2e/admin',
    ' http://blocked.example:18802/admin\n',
    'ht\ttp://blocked.exam\nple:18802/admin',
  ];
  const named: Record<string, unknown>[] = [
    { values: ['http://blocked.example:18802/admin'] },
    { values: ['HTTP://Blocked.example.:018802/%61dmin'] },
    { pattern: '^http://blocked\\.example:18802/admin$' },
    { pattern: '^https?://([^/]*\\.)?blocked\\.example(:|/|$)' },
  ];
  test.each(spellings)('called at %j is judged by the canonical address', (address) => {
    for (const rule of named) {
      for (const [node, argument] of [
        [http, 'url'],
        [mcp, 'server_url'],
        [chat, 'webhook_url'],
      ] as const) {
        const tools = [{ tool: node.tool_name, blocked_arguments: [{ argument, ...rule }] }];
        const { refusal } = judge({ tools }, node, { [argument]: address });
        expect([rule, refusal]).toEqual([rule, expect.stringContaining('has a blocked value')]);
      }
    }
  });

  test.each<[string, string, string, boolean]>([
    ['http://127.0.0.1/', 'http://0x7f.1', 'values', true],
    ['http://127.0.0.1/', 'http://2130706433/x', 'values', false],
    ['http://127.0.0.1/', 'http://[::ffff:7f00:1]:80', 'values', true],
    ['https://bücher.example/', 'https://XN--BCHER-KVA.example', 'values', true],
    ['https://a.example/x?y=1', 'https://a.example/x?y=2', 'values', false],
    ['https://a.example/x?y=1', 'https://a.example/x?%79=1', 'values', true],
    ['https://a.example/x', 'https://a.example/X', 'values', false],
    ['^https://a\\.example$', 'https://A.example?x', 'pattern', true],
    ['^https://a\\.example:443/', 'https://a.example/x', 'pattern', true],
    ['^https://a\\.example/', 'https://a.example.net/', 'pattern', false],
    ['%2f', 'https://b.example/?next=https://a.example', 'pattern', false],
  ])('with a rule for %s is called at %s; blocked by %s: %s', (rule, url, kind, blocked) => {
    const rules = {
      argument: 'url',
      ...(kind === 'values' ? { values: [rule] } : { pattern: rule }),
    };
    const tools = [{ tool: 'http_request', blocked_arguments: [rules] }];
    expect(judge({ tools }, http, { url }).refusal !== undefined).toBe(blocked);
  });

  test('is judged by the text of its form and by its fields', () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const params = { headers, body: { To: '+1900', text: 'a b' } };
    const refused = (rule: { argument: string; pattern: string }, given: JsonObject) =>
      judge({ tools: [{ tool: 'http_request', blocked_arguments: [rule] }] }, http, given)
        .refusal !== undefined;
    expect(refused({ argument: 'body', pattern: '^To=\\+1900' }, params)).toBe(true);
    expect(refused({ argument: 'body', pattern: '^To=%2B1900&text=a\\+b$' }, params)).toBe(true);
    expect(refused({ argument: 'body.To', pattern: '^\\+1900$' }, params)).toBe(true);
    expect(refused({ argument: 'body', pattern: '^To=' }, { ...params, headers: {} })).toBe(false);
  });

  test('is judged with the query that is appended to its address', () => {
    const blocked_arguments = [{ argument: 'url', pattern: '[?&]role=admin' }];
    const tools = [{ tool: 'http_request', blocked_arguments }];
    const refused = (params: JsonObject) => judge({ tools }, http, params).refusal !== undefined;
    const url = 'https://a.example/x';
    expect(refused({ url, query: { id: 1, role: ['user', 'admin'] } })).toBe(true);
    expect(refused({ url, query: { role: ['user'], other: null } })).toBe(false);
    expect(refused({ url: `${url}?%72ole=admin` })).toBe(true);
  });

  test('keeps its host and recipients when sent, but is stored redacted', () => {
    const redaction = { detectors: ['email' as const, 'ip' as const], patterns: [] };
    const called = judge({ redaction }, http, {
      url: 'http://10.0.0.1:8080/u/a@example.com?from=10.0.0.2',
    });
    expect(called.params).toEqual({
      url: 'http://10.0.0.1:8080/u/[REDACTED:email]?from=[REDACTED:ip]',
    });
    expect(called.stored).toEqual(called.params);
    const hidden = judge({ redaction }, http, { url: 'http://a@example.com/' });
    expect(JSON.stringify(hidden.params)).not.toContain('a@');
    const sent = judge({ redaction }, mail, { to: 'a@example.com', text: 'ask b@example.com' });
    expect(sent.params).toEqual({ to: 'a@example.com', text: 'ask [REDACTED:email]' });
    expect(sent.stored).toEqual({ to: '[REDACTED:email]', text: 'ask [REDACTED:email]' });
    expect(sent.verdicts).toEqual([
      {
        type: 'data_redacted',
        policy: 'dlp',
        decision: 'redacted',
        reason: '1 value was redacted before sending: 1 email',
        evidence: { email: 1 },
      },
    ]);
  });

  test('that is refused reports no redaction, but is stored redacted', () => {
    const redaction = { detectors: ['email' as const], patterns: [] };
    const tools = [{ tool: 'http_request', allowed_workflow_ids: [] }];
    const judged = judge({ redaction, tools }, http, { body: 'a@example.com' });
    expect(judged.verdicts.map((verdict) => verdict.type)).toEqual(['policy_denied']);
    expect(judged.stored).toEqual({ body: '[REDACTED:email]' });
  });

  test('with parameters too deep to check is refused, and none of them stored', () => {
    let deep: Json = 'a@example.com';
    for (let level = 0; level < 300; level += 1) deep = [deep];
    const judged = judge({ redaction: { detectors: ['email'], patterns: [] } }, http, { deep });
    expect(judged.refusal).toMatch(/^Nothing was sent: /);
    expect([judged.params, judged.stored]).toEqual([{}, {}]);
  });
});

describe('an agent', () => {
  test.each([
    [null, undefined],
    [['openai/gpt-5'], undefined],
    [['mock'], "Model 'openai/gpt-5' is not on the workspace's list of allowed models"],
    [[], "Model 'openai/gpt-5' is not on the workspace's list of allowed models"],
  ])('with the allowed models %j is judged correctly', (model_allowlist, refusal) => {
    const judged = judge({ model_allowlist }, agent, {});
    expect(judged.refusal).toBe(refusal);
    if (refusal === undefined) return;
    expect(judged.verdicts).toEqual([
      {
        type: 'policy_denied',
        policy: 'model_allowlist',
        decision: 'denied',
        reason: refusal,
        evidence: { model: 'openai/gpt-5', provider: 'openai' },
      },
    ]);
  });

  test('can fall back to allowed models only', () => {
    const judged = judge({ model_allowlist: ['openai/gpt-5', 'mock'] }, agent, {});
    expect(judged.fallbackVerdict('mock')).toBeUndefined();
    expect(judged.fallbackVerdict('anthropic/claude')).toMatchObject({
      type: 'model_fallback_blocked',
      policy: 'fallback',
      decision: 'blocked',
      evidence: { model: 'anthropic/claude', provider: 'anthropic' },
    });
  });

  test('has its prompts redacted, and its state if that is the prompt', () => {
    const redaction = { detectors: ['email' as const], patterns: [] };
    const state = { who: 'a@example.com' };
    const asked = judge(
      { redaction },
      agent,
      { prompt: 'a@example.com', system_prompt: { x: 'b@example.com' } },
      state,
    );
    expect(asked.params).toEqual({
      prompt: '[REDACTED:email]',
      system_prompt: { x: '[REDACTED:email]' },
    });
    expect(asked.state).toBe(state);
    const about = judge({ redaction }, agent, {}, state);
    expect(about.state).toEqual({ who: '[REDACTED:email]' });
    expect(about.verdicts.map((verdict) => verdict.evidence)).toEqual([{ email: 1 }]);
  });
});
