import { describe, expect, test } from '@jest/globals';
import { after, play, PlayError } from '#client/testing.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { chain, echo, edge } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { gate, refusals, request, startPlayStage } from './stage.ts';

const stage = useStage(startPlayStage);

describe('limits', () => {
  test('a loop ends at its greatest number of iterations, and says so', async () => {
    const { run } = await stage.both({
      graph: {
        nodes: [
          { id: 'l', kind: 'loop', expression: 'true', max_iterations: 3 },
          ...[echo('b', 'l.iterations'), echo('c', 'l')],
        ],
        edges: [edge('l', 'b', 'true'), edge('b', 'l'), edge('l', 'c', 'false')],
      } as GraphInput,
    });
    expect(run.state).toMatchObject({ c: { iterations: 3, exhausted: true } });
  });

  test('a tool that is too slow fails with the same text', async () => {
    const { models } = stage;
    models.answers.splice(0, Infinity, { hang: true });
    const timeout_seconds = 0.2;
    const slow = {
      id: 'a',
      kind: 'agent',
      model: 'openai/gpt-5-mini',
      prompt: 'x',
      timeout_seconds,
    };
    await stage.both({
      graph: chain(slow),
      options: { mocks: { nodes: { a: after(60, 'late') } } },
      ends: 'failed',
    });
  });

  test('a list of too many items fails the map', async () => {
    const nodes = [{ id: 'm', kind: 'map', items: 'list' }, echo('b', 'm.item')];
    const graph = { nodes, edges: [edge('m', 'b', 'true'), edge('b', 'm')] } as GraphInput;
    const list = Array.from({ length: 10_001 }, () => 0);
    await stage.both({ graph, input: { list }, ends: 'failed' });
  });
});

describe('what the service refuses', () => {
  test('an input that is not valid is refused with the same text', async () => {
    const { engine } = stage;
    const input_schema = {
      type: 'object',
      properties: {
        order: { type: 'string' },
        items: { type: 'array', items: { type: 'integer' } },
      },
      required: ['order'],
    };
    const graph = chain(echo('a', 'order')) as GraphInput;
    const id = await engine.define(graph);
    await updateWorkflow(engine.db, engine.actor, id, { input_schema });
    for (const input of [{}, { order: 1 }, { order: 'x', items: [1, 'two', 'three'] }]) {
      const [service, played] = await refusals(
        engine.trigger(id, input as JsonObject),
        play({ name: 'Typed', graph: graph as never, input_schema }, { input }),
      );
      expect(service).toContain('Invalid input');
      expect(played).toBe(service);
    }
  });

  test.each<[string, GraphInput]>([
    ['an unknown source', { nodes: [echo('a')], edges: [edge('b', 'a')] }],
    ['an expression that cannot be read', chain(echo('a', '1 +'))],
    ['a secret in a prompt', chain({ id: 'a', kind: 'agent', prompt: '{secrets.KEY}' })],
    ['no such tool', chain({ id: 'a', kind: 'tool', tool_name: 'http_requests', params: {} })],
    ['a circle', { nodes: [echo('a'), echo('b')], edges: [edge('a', 'b'), edge('b', 'a')] }],
    [
      'a gate that does not show all',
      chain(
        ...[gate('ok', { covers: 'all' }), { id: 'a', kind: 'agent', prompt: 'Write' }],
        request('b', 'https://example.com/', { params: { url: '{a}', method: 'POST' } }),
      ),
    ],
    ['a field that does not exist', { nodes: [{ ...echo('a'), retrys: 1 } as never], edges: [] }],
  ])('a graph with %s is refused with the same texts and paths', async (_what, graph) => {
    const { engine } = stage;
    const workflowId = await engine.define(graph);
    const scope = { workspaceId: engine.actor.workspaceId, workflowId };
    const { errors } = await validateWorkflow(engine.db, scope, engine.deps.config.models);
    const refused = await play(graph).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PlayError);
    expect([errors.length > 0, (refused as PlayError).errors]).toEqual([true, errors]);
    const [service, played] = await refusals(engine.trigger(workflowId), play(graph));
    expect(played).toBe(service);
  });
});
