import { describe, expect, test } from '@jest/globals';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { chain, echo } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { startPlayStage } from './stage.ts';

const stage = useStage(startPlayStage);

type Rest = JsonObject;

describe('an agent with tools', () => {
  const url = () => stage.tool('refund');
  const agent = (rest: Rest = {}) =>
    ({
      ...{ id: 'a', kind: 'agent', model: 'openai/gpt-5-mini', prompt: 'Refund {order}' },
      ...{
        system_prompt: 'Be kind',
        tools: [{ name: 'http_request', approval: 'always' }],
        ...rest,
      },
    }) as never;
  const input = { order: 'o-1' };
  const call = (amount: number) => ({ url: url(), method: 'POST', body: { amount } });

  const decide = async (runId: string, approved: boolean, rest: object = {}) => {
    const [open] = (await stage.paused(runId)).pending_gates;
    const { digest } = open!.tool_call!;
    await stage.engine.decide(runId, { stepKey: open!.step_key, digest, approved, ...rest });
  };

  test('calls what was approved, and answers', async () => {
    stage.models.answers.splice(0, Infinity);
    stage.models.answers.push(
      { calls: [{ name: 'http_request', arguments: call(5) }] },
      { text: 'Done' },
    );
    const { played } = await stage.both({
      graph: chain(agent(), echo('b', 'a')),
      input,
      act: (runId) => decide(runId, true),
      options: {
        mocks: {
          agents: {
            a: {
              turns: [
                { calls: [{ tool: 'http_request', arguments: call(5) }] },
                { output: 'Done' },
              ],
            },
          },
        },
        decisions: { a: 'approve' },
      },
    });
    expect(played.state).toMatchObject({ b: 'Done' });
  });

  test('sees why a call was rejected', async () => {
    stage.models.answers.splice(0, Infinity);
    stage.models.answers.push(
      { calls: [{ name: 'http_request', arguments: call(500) }] },
      { text: 'I cannot do that' },
    );
    await stage.both({
      graph: chain(agent()),
      input,
      act: (runId) => decide(runId, false, { reason: 'too much' }),
      options: {
        mocks: {
          agents: {
            a: ({ turn, results }) => {
              if (turn === 1) return { calls: [{ tool: 'http_request', arguments: call(500) }] };
              expect(results).toMatchObject([{ turn: 1, tool: 'http_request', failed: true }]);
              return 'I cannot do that';
            },
          },
        },
        decisions: { a: { approved: false, reason: 'too much' } },
      },
    });
  });

  test('with the scripted model of its node needs no mock', async () => {
    const turns = [{ calls: [{ tool: 'json_transform', arguments: { expression: '2 * 3' } }] }];
    const scripted = agent({
      model: 'mock',
      tools: ['json_transform'],
      mock: { turns, output: '{order}' },
    });
    await stage.both({ graph: chain(scripted), input });
    const failing = agent({ model: 'mock', tools: [], mock: { fail_times: 3 } });
    await stage.both({
      graph: chain({ ...(failing as object), tools: undefined } as never),
      input,
      ends: 'failed',
    });
  });

  test('that does not end has the same number of turns', async () => {
    const turns = Array.from({ length: 5 }, () => ({
      calls: [{ tool: 'json_transform', arguments: { expression: '1' } }],
    }));
    const endless = (on_max_turns: string) =>
      agent({
        model: 'mock',
        tools: ['json_transform'],
        max_turns: 2,
        on_max_turns,
        mock: { turns },
      });
    await stage.both({ graph: chain(endless('fail')), input, ends: 'failed' });
    await stage.both({ graph: chain(endless('answer')), input });
  });

  const scripted = (turns: Rest[], rest: Rest = {}) =>
    agent({ model: 'mock', tools: ['json_transform'], mock: { turns, output: 'ok' }, ...rest });
  const calls = (...given: Rest[]): Rest => ({
    calls: given.map((each) => ({ tool: 'json_transform', ...each })),
  });
  const sum = { arguments: { expression: '1 + 1' } };
  const broken = { arguments: { expression: '1 / 0' } };
  const tool = (rest: Rest) => ({ tools: [{ name: 'json_transform', ...rest }] });
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  test.each<[string, 'success' | 'failed', never]>([
    ['a call that fails, which it sees', 'success', scripted([calls(broken)])],
    ['a call that fails it', 'failed', scripted([calls(broken)], tool({ on_error: 'fail' }))],
    ['several calls in a turn', 'success', scripted([calls(sum, broken, sum), calls(sum)])],
    ['a tool that it does not have', 'success', scripted([calls({ tool: 'http_request' })])],
    ['arguments that are missing', 'success', scripted([calls({ arguments: {} })])],
    ['more calls than it has', 'success', scripted([calls(sum, sum)], tool({ max_calls: 1 }))],
    [
      'an argument that is fixed',
      'success',
      scripted([calls({ arguments: {} })], tool({ fixed: { expression: 'order' } })),
    ],
    ['no call, though it must call', 'success', scripted([], { tool_choice: 'required' })],
    ['an answer that does not fit its schema', 'failed', scripted([], { response_schema: schema })],
    ['an example for its schema', 'success', scripted([], { response_schema: schema, mock: {} })],
    ['an echo of its prompt', 'success', agent({ model: 'mock', tools: undefined as never })],
    ['the whole state', 'success', agent({ model: 'mock', prompt: undefined as never })],
  ])('with %s', async (_what, ends, node) => {
    await stage.both({ graph: chain(node), input, ends });
  });

  test('runs a workflow as a tool', async () => {
    const child = chain(echo('double', 'n * 2')) as GraphInput;
    const { engine } = stage;
    const id = await engine.define(child, 'Doubler');
    const input_schema = { type: 'object', properties: { n: { type: 'integer' } } };
    await updateWorkflow(engine.db, engine.actor, id, { input_schema });
    const tools = [{ name: 'workflow:Doubler', approval: 'args.n > 5' }];
    const turns = [3, 'four', 6].map((n) => calls({ tool: 'workflow:Doubler', arguments: { n } }));
    await stage.both({
      graph: chain(scripted(turns, { tools }), echo('b', 'a')),
      input,
      act: (runId) => decide(runId, true),
      options: {
        workflows: { Doubler: { graph: child as never, input_schema } },
        decisions: { a: 'approve' },
      },
    });
  });
});
