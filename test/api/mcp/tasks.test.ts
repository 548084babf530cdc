import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { useEngineApi } from '#test/api/engine-api.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { soakCases } from '#test/support/soak.ts';
import { createModel, type Needed } from './tasks/model.ts';
import { operatingTasks } from './tasks/operating.ts';
import { peopleTasks } from './tasks/people.ts';
import { stepTasks } from './tasks/steps.ts';
import { waitingTasks } from './tasks/waiting.ts';
import { startOutside, type Task } from './tasks/world.ts';

/**
 * Twenty tasks that people give to models, over MCP. The model is a script, but it can send only words that it has read over
 * MCP, and what it made is run. A task that fails for a word says which text the product lacks.
 */

const { engine, call } = useEngineApi({ env: { ENCRYPTION_KEY: 'a key for the tests alone' } });

let client: Client;
beforeAll(async () => {
  client = await connectMcp(`${engine.url}/api/mcp`);
});
afterAll(() => client.close());

const tasks: Task[] = [...peopleTasks, ...stepTasks, ...waitingTasks, ...operatingTasks];
/** Without the soak: an approval, two graphs that are wrong at first, a budget, and a failed run. */
const first = [
  'fetches an invoice',
  'repeats until',
  'waits for the payment',
  'limits what a workflow costs',
  'finds out why',
];
const isFirst = ({ title }: Task) => first.some((start) => title.startsWith(start));
const ordered = [...tasks.filter(isFirst), ...tasks.filter((task) => !isFirst(task))];

/** More than a model wants to read or do for one task. */
const MOST: Needed = { calls: 12, tools: 30_000, documents: 40_000, answers: 20_000 };

describe('with nothing but MCP, a model makes something that', () => {
  const needed = new Map<string, Needed>();

  test.each(soakCases(ordered, first.length).map((task) => [task.title, task] as const))(
    '%s',
    async (_title, task) => {
      const outside = await startOutside();
      const world = { engine, call, outside };
      try {
        const prepared = await task.prepare?.(world);
        const model = await createModel(client, { request: task.request(world), own: task.own });
        const made = await task.solve(model, { url: outside.url });
        await task.prove(made, world, prepared);
        const used = model.needed();
        needed.set(task.title, used);
        for (const [what, most] of Object.entries(MOST)) {
          const much = used[what as keyof Needed];
          if (much > most) {
            throw new Error(`it needs ${much} of ${what}, which is more than ${most}`);
          }
        }
      } finally {
        await outside.close();
      }
    },
  );

  // What docs/mcp.md says.
  afterAll(() => {
    const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} KB`;
    const line = (of: string, { calls, documents, tools, answers }: Needed) =>
      `${calls} calls, ${kilobytes(documents)} of guides, ${kilobytes(tools)} of tools, ${kilobytes(answers)} of answers: ${of}`;
    const all = [...needed.values()];
    const sum = (what: keyof Needed) => all.reduce((total, each) => total + each[what], 0);
    const total = {
      ...{ calls: sum('calls'), documents: sum('documents') },
      ...{ tools: sum('tools'), answers: sum('answers') },
    };
    const lines = [...needed].map(([title, each]) => line(title, each));
    console.log([...lines, line(`${needed.size} tasks`, total)].join('\n'));
  });
});

describe('the scripted model', () => {
  const create = (request: string, own: string[] = []) => createModel(client, { request, own });

  test('cannot send a word that nothing has said', async () => {
    const model = await create('Build a workflow that asks before it ends');
    const graph = { nodes: [{ id: 'ends', kind: 'human_gate', prompt: 'End it?' }], edges: [] };
    const given = { name: 'Asks before', graph };
    await expect(model.use('create_workflow', given)).rejects.toThrow(
      'create_workflow was sent words that nothing over MCP says: id (at graph.nodes), kind (at graph.nodes), ' +
        'human_gate (at graph.nodes.kind), prompt (at graph.nodes)',
    );
    await model.read('schema://workflow');
    expect(await model.use('create_workflow', given)).toMatchObject({ graph });
  });

  test('cannot send a name in an expression or template that nothing has said', async () => {
    const model = await create('Build a workflow');
    await model.read('schema://workflow');
    const node = (rest: object) => ({
      name: 'Made for a test',
      graph: { nodes: [{ id: 'workflow', ...rest }], edges: [] },
    });
    for (const rest of [
      { kind: 'condition', expression: "frobnicate == 'fine words'" },
      { kind: 'agent', prompt: 'Fine words, and {frobnicate}' },
      { kind: 'frobnicate' },
    ]) {
      await expect(model.use('create_workflow', node(rest))).rejects.toThrow(
        /says: frobnicate \(at graph\.nodes\.(?:expression|prompt|kind)\)$/,
      );
    }
  });

  test('cannot read what nothing has named, or call what is not listed', async () => {
    const model = await create('Build a workflow');
    await expect(model.read('docs://agents')).rejects.toThrow('names the resource docs://agents');
    await model.read('docs://skill');
    expect(await model.read('docs://agents')).toContain('# Agents');
    await expect(model.use('drop_tables')).rejects.toThrow('no tool is named drop_tables');
  });

  test('cannot give a node a name of the contract as its own', async () => {
    await expect(create('Build a workflow', ['human_gate'])).rejects.toThrow(
      'words of the contract are no own names: human_gate',
    );
  });

  test('does not learn a word by having it refused', async () => {
    const model = await create('Build a workflow', ['asking']);
    await model.read('docs://skill');
    const graph = { nodes: [{ id: 'asking', kind: 'human_gate', promtp: 'Go on?' }], edges: [] };
    const keep = model.mend({ name: 'Asks first', graph }, (_answer, { nodes: [node], edges }) => ({
      nodes: [{ ...node, promtp: undefined, frobnicate: 'asking' }],
      edges,
    }));
    await expect(keep).rejects.toThrow('says: frobnicate (at nodes)');
  });
});
