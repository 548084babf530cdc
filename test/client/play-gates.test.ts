import { describe, expect, test } from '@jest/globals';
import { type Decisions, type OpenGate, play } from '#client/testing.ts';
import { draw } from '#test/graph/drawing.ts';

const form = {
  type: 'object',
  properties: { amount: { type: 'number', maximum: 100 } },
  required: ['amount'],
};
const gate = (fields: object = {}) => draw('g -true-> a\ng -false-> b', { g: { ...fields } });
const decide = (fields: object, g: Decisions) =>
  play(gate(fields), { decisions: { g }, mocks: { nodes: { a: 'yes', b: 'no' } } });

const mail = (fields: object = {}) => ({
  nodes: [
    {
      ...{ id: 'mail', kind: 'tool', tool_name: 'send_email', approval: 'always' },
      params: { to: '{to}', subject: 'Hi', text: 'Hello' },
      ...fields,
    },
  ],
});
const sent = { tools: { send_email: (args: object) => args } };

describe('a decision in a test', () => {
  test('adds the answers of a form to the state', async () => {
    const run = await decide({ input_schema: form }, { input: { amount: 12 } });
    expect(run.state).toEqual({ amount: 12, g: { approved: true }, a: 'yes' });
    expect(run.steps[0]).toMatchObject({ output: { approved: true, input: { amount: 12 } } });
  });

  test.each([
    ['approve', 'Invalid input: input.amount is missing: add it'],
    [{ input: { amount: 101 } }, 'Invalid input: input.amount must be <= 100'],
    [{ approved: false, input: { amount: 'x' } }, 'input.amount must be a number, not a text'],
    [{ input: { amount: 1 }, arguments: {} }, 'arguments need the digest of a tool call'],
  ] as const)('is refused like %j at a gate with a form', async (decision, problem) => {
    await expect(decide({ input_schema: form }, decision)).rejects.toThrow(
      `The decision at gate 'g' is refused: `,
    );
    await expect(decide({ input_schema: form }, decision)).rejects.toThrow(problem);
  });

  test('that rejects fails a run without another branch, with the reason', async () => {
    const run = await play(draw('g -> a', { g: { label: 'Release' } }), {
      decisions: { g: { approved: false, reason: 'Not yet' } },
    });
    expect(run).toMatchObject({
      ...{ status: 'failed', error: "Rejected at gate 'Release': Not yet" },
      failure: { kind: 'rejected', node_id: 'g' },
    });
  });

  test.each([
    ['approve', 'yes', undefined],
    ['reject', 'no', undefined],
    ['fail', undefined, "Node 'g' failed: Timed out: no decision within 60 seconds"],
  ])('can be that of the deadline, which does: %s', async (on_timeout, branch, error) => {
    const fields = { timeout_seconds: 60, on_timeout };
    for (const given of ['timeout', { approved: true, after_seconds: 60 }] as const) {
      const run = await decide(fields, given);
      expect(run.error).toBe(error ?? null);
      expect(Object.values(run.output ?? {})).toEqual(branch === undefined ? [] : [branch]);
      expect(run.steps[0]).toMatchObject({
        duration_ms: 60_000,
        decision: { timed_out: on_timeout },
      });
    }
    const early = await decide(fields, { approved: true, after_seconds: 59 });
    expect(early).toMatchObject({ output: { a: 'yes' } });
  });

  test('can differ at each opening of the gate', async () => {
    const graph = draw('l -true-> g\ng -true-> l\ng -false-> b\nb -> l', {
      l: { expression: 'l.iterations < 3' },
      g: { prompt: 'Round {l.iterations}' },
    });
    const asked: string[] = [];
    const decisions = { g: ({ prompt }: OpenGate) => (asked.push(prompt), 'approve' as const) };
    await play(graph, { decisions, mocks: { nodes: { b: 'no' } } });
    expect(asked).toEqual(['Round 1', 'Round 2', 'Round 3']);
    const listed = await play(graph, {
      decisions: { g: ['approve', 'reject'] },
      mocks: { nodes: { b: 'no' } },
    });
    expect(listed).toMatchObject({ status: 'paused', gates: [{ step_key: 'g#3' }] });
    expect(listed.steps.find(({ step_key }) => step_key === 'b#2')?.output).toBe('no');
  });

  test('decides about the step of a tool that needs approval', async () => {
    const options = { input: { to: 'a@b.test' }, mocks: sent };
    const paused = await play(mail(), options);
    expect(paused).toMatchObject({
      status: 'paused',
      gates: [
        {
          ...{ kind: 'tool_call', title: 'send_email: a@b.test, Hi' },
          tool_call: { tool: 'send_email', arguments: { to: 'a@b.test', subject: 'Hi' } },
        },
      ],
    });
    const { digest } = paused.gates[0]!.tool_call!;
    const approved = await play(mail(), { ...options, decisions: { mail: { digest } } });
    expect(approved.output).toMatchObject({ mail: { to: 'a@b.test' } });
    // The same approval for other arguments.
    const other = play(mail(), {
      ...options,
      input: { to: 'c@d.test' },
      decisions: { mail: { digest } },
    });
    await expect(other).rejects.toThrow("The digest is not that of the call at gate 'mail'");
    const edited = { to: 'c@d.test', subject: 'Hi', text: 'Hello' };
    const changed = await play(mail(), { ...options, decisions: { mail: { arguments: edited } } });
    expect(changed.output).toEqual({ mail: edited });
    const rejected = await play(mail(), { ...options, decisions: { mail: 'reject' } });
    expect(rejected.error).toBe("Rejected at gate 'mail'");
  });

  test('is only needed where the expression of the approval is true', async () => {
    const graph = mail({ approval: "args.to != 'a@b.test'" });
    const known = await play(graph, { input: { to: 'a@b.test' }, mocks: sent });
    expect(known.status).toBe('success');
    const other = await play(graph, { input: { to: 'c@d.test' }, mocks: sent });
    expect(other.status).toBe('paused');
  });

  test('cannot change what the workflow sets', async () => {
    const graph = mail({
      tool_name: 'http_request',
      params: { url: 'https://api.test/{to}', method: 'POST' },
    });
    const run = play(graph, {
      input: { to: 'a' },
      decisions: { mail: { arguments: { url: 'https://api.test/b', method: 'GET' } } },
    });
    await expect(run).rejects.toThrow('arguments.method is set by the workflow: send it unchanged');
  });
});
