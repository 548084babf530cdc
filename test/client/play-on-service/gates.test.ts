import { describe, expect, test } from '@jest/globals';
import { type OpenGate, play } from '#client/testing.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { chain, echo, edge, eventually } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { gate, refusals, request, startPlayStage } from './stage.ts';

const stage = useStage(startPlayStage);

describe('a gate', () => {
  const form = {
    type: 'object',
    properties: { amount: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
    required: ['amount'],
    additionalProperties: false,
  };
  const asked = chain(gate('ok', { input_schema: form }), echo('sum', 'amount + 1'));
  const input = { order: 'o-1' };

  test('puts the answers of its form into the state', async () => {
    const answers = { amount: 4, note: 'fine' };
    const { played } = await stage.both({
      graph: asked,
      input,
      act: async (runId) => {
        await stage.paused(runId);
        await stage.engine.approve(runId, { input: answers, reason: 'as agreed' });
      },
      options: { decisions: { ok: { approved: true, input: answers, reason: 'as agreed' } } },
    });
    expect(played.state).toMatchObject({ amount: 4, sum: 5 });
  });

  test('that no one has decided pauses the run, with what it shows', async () => {
    const { run, played } = await stage.both({
      graph: asked,
      input,
      act: stage.paused,
      ends: 'paused',
    });
    type Shown = Pick<OpenGate, 'node_id' | 'step_key' | 'kind' | 'label' | 'title' | 'prompt'>;
    const shown = ({ node_id, step_key, kind, label, title, prompt }: Shown) => ({
      ...{ node_id, step_key, kind, label, title, prompt },
    });
    expect(played.gates.map(shown)).toEqual(run.pending_gates.map(shown));
  });

  test.each([
    ['of another type', { amount: 'four' }],
    ['too small', { amount: 0 }],
    ['missing', {}],
    ['not in the form', { amount: 4, other: 1 }],
  ])('refuses answers that are %s, with the text of the service', async (_what, answers) => {
    const runId = await stage.engine.start(asked, input);
    await stage.paused(runId);
    const [service, played] = await refusals(
      stage.engine.approve(runId, { input: answers }),
      play(asked, { input, decisions: { ok: { approved: true, input: answers } } }),
    );
    expect(service).toContain('Invalid input');
    expect(played).toContain(service);
  });

  test('that is rejected fails the run with the reason', async () => {
    await stage.both({
      graph: asked,
      input,
      act: async (runId) => {
        await stage.paused(runId);
        await stage.engine.decide(runId, { approved: false, reason: 'too dear' });
      },
      options: { decisions: { ok: { approved: false, reason: 'too dear' } } },
      ends: 'failed',
    });
  });

  test('in a loop takes one decision after another', async () => {
    const graph = {
      nodes: [
        { id: 'l', kind: 'loop', expression: 'l.iterations < 3', max_iterations: 5 },
        gate('ok'),
        echo('yes', 'l.iterations'),
        echo('no', '0 - l.iterations'),
      ],
      edges: [
        ...[edge('l', 'ok', 'true'), edge('ok', 'yes', 'true'), edge('ok', 'no', 'false')],
        ...[edge('yes', 'l'), edge('no', 'l')],
      ],
    } as GraphInput;
    const decisions = [true, false, true];
    await stage.both({
      graph,
      input,
      act: async (runId) => {
        for (const [at, approved] of decisions.entries()) {
          const stepKey = `ok#${at + 1}`;
          await eventually(async () =>
            (await stage.paused(runId)).pending_gates.some(({ step_key: key }) => key === stepKey),
          );
          await stage.engine.decide(runId, { stepKey, approved });
        }
      },
      options: { decisions: { ok: decisions.map((approved) => ({ approved })) } },
    });
  });

  test.each(['reject', 'approve', 'fail'] as const)(
    'with a deadline that does %s takes the branch of that',
    async (on_timeout) => {
      await stage.both({
        graph: {
          nodes: [
            gate('ok', { timeout_seconds: 0.2, on_timeout }),
            ...[echo('yes', '1'), echo('no', '2'), echo('late', 'ok.error')],
          ],
          edges: [
            edge('ok', 'yes', 'true'),
            edge('ok', 'no', 'false'),
            edge('ok', 'late', 'error'),
          ],
        } as GraphInput,
        input,
        options: { decisions: { ok: 'timeout' } },
      });
    },
  );

  test.each(['reject', 'fail'] as const)(
    'with a deadline that does %s fails a run without branches',
    async (on_timeout) => {
      await stage.both({
        graph: chain(gate('ok', { timeout_seconds: 0.2, on_timeout }), echo('after')),
        ...{ input, options: { decisions: { ok: 'timeout' } }, ends: 'failed' },
      });
    },
  );
});

describe('a step that needs approval', () => {
  const graph = () =>
    chain(request('pay', stage.tool('pay'), { approval: 'always' }), echo('paid', 'pay.body'));

  test('asks with its arguments, and is executed with others if they were edited', async () => {
    const url = stage.tool('pay-more');
    const { run } = await stage.both({
      graph: graph(),
      act: async (runId) => {
        const [open] = (await stage.paused(runId)).pending_gates;
        const { digest } = open!.tool_call!;
        await stage.engine.approve(runId, { digest, arguments: { url, method: 'POST' } });
      },
      options: { decisions: { pay: { arguments: { url, method: 'POST' } } } },
    });
    expect(run.steps[0]!.input).toEqual({ url, method: 'POST' });
    expect(stage.seen('pay')).toEqual([]);
  });

  test('shows the same arguments and title while it is open', async () => {
    const { run, played } = await stage.both({ graph: graph(), act: stage.paused, ends: 'paused' });
    const shown = ({ kind, title, prompt, tool_call: call }: (typeof played.gates)[0]) => ({
      ...{ kind, title, prompt, tool: call?.tool, arguments: call?.arguments },
    });
    expect(played.gates.map(shown)).toEqual(run.pending_gates.map((each) => shown(each as never)));
  });

  test('that is rejected fails the run', async () => {
    await stage.both({
      graph: graph(),
      act: async (runId) => {
        const { digest } = (await stage.paused(runId)).pending_gates[0]!.tool_call!;
        await stage.engine.decide(runId, { digest, approved: false, reason: 'no' });
      },
      options: { decisions: { pay: { approved: false, reason: 'no' } } },
      ends: 'failed',
    });
  });

  test('asks only where its expression is true', async () => {
    const url = stage.tool('maybe');
    const nodes = ['1', '2'].map((n) =>
      request(`n${n}`, url, {
        params: { url, method: 'POST', body: { amount: Number(n) } },
        approval: 'args.body.amount > 1',
      }),
    );
    await stage.both({
      graph: chain(...nodes),
      act: async (runId) => {
        const { digest } = (await stage.paused(runId)).pending_gates[0]!.tool_call!;
        await stage.engine.approve(runId, { digest });
      },
      options: { decisions: { n2: 'approve' } },
    });
  });
});
