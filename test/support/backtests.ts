import { z } from 'zod';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import type { Backtest, BacktestQuery } from '#shared/contract/policies/backtest.ts';
import { backtestBody } from '#shared/contract/policies/backtest.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { createCustomTool } from '#shared/db/tools/custom-tools.ts';
import { readBacktest, startBacktest } from '#shared/operations/policies/backtests.ts';
import type { ToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, type Engine, eventually, mock } from './engine.ts';
import { call } from './sub-workflows.ts';

/** Starts a backtest; returns its id once its execution was started. */
export async function begin(
  { deps, actor }: Pick<Engine, 'deps' | 'actor'>,
  body: object,
): Promise<string> {
  const given = backtestBody.parse({ since: '2020-01-01', ...body });
  const { started, dispatched } = await startBacktest(deps, actor, given);
  await dispatched;
  return started.id;
}

export const readPage = (
  { deps, actor }: Pick<Engine, 'deps' | 'actor'>,
  jobId: string,
  query: Partial<BacktestQuery> = {},
): Promise<Backtest> =>
  readBacktest(deps, { workspaceId: actor.workspaceId, jobId }, { limit: 200, ...query });

/** Waits until a backtest has ended. */
export async function ended(engine: Engine, jobId: string, timeoutMs = 30_000): Promise<Backtest> {
  await eventually(async () => (await readPage(engine, jobId)).status !== 'running', timeoutMs);
  return readPage(engine, jobId);
}

/** The result of a backtest of these policies. */
export const backtest = async (engine: Engine, body: object): Promise<Backtest> =>
  ended(engine, await begin(engine, body));

/** Registers the custom tool `notify`. */
export const registerNotify = ({ db, actor }: Engine, tools: ToolServer): Promise<unknown> =>
  createCustomTool(
    db,
    actor,
    customToolInput.parse({
      name: 'notify',
      endpoint_url: `${tools.url}/notify`,
      input_schema: schema,
    }),
    () => ({}),
  );

const schema = { type: 'object', properties: { to: {}, note: {} } };

/**
 * A run with steps of every kind that policies judge, some of them blocked or redacted, and of the custom tool `notify`.
 * Returns its record.
 */
export async function everyKind(engine: Engine, tools: ToolServer, mcpUrl: string): Promise<Run> {
  const child = await engine.define({ nodes: [echo('a', 'note')], edges: [] }, 'Child');
  const agent = mock(
    'ask',
    {
      turns: [
        {
          calls: [
            {
              tool: 'custom:notify',
              arguments: { to: 'ann@example.com', note: 'call 555-010-9999' },
            },
            { tool: `workflow:${child}`, arguments: { note: 'from an agent' } },
          ],
        },
        { output: 'sent to {mail}' },
      ],
    },
    {
      prompt: 'Write to {mail}',
      tools: [
        { name: 'custom:notify', parameters: schema },
        { name: `workflow:${child}`, parameters: schema },
      ],
    },
  );
  const post = (id: string, body: object) =>
    tools.node(id, { params: { url: `${tools.url}/${id}`, method: 'POST', body } });
  const nodes = [
    mock('plain', { output: 'ok' }, { prompt: 'Card 4111 1111 1111 1111 of {mail}' }),
    mock('whole', { output: 'ok' }),
    agent,
    { id: 'each', kind: 'map', items: '[1, 2, 3]' },
    post('item', { n: '{each.item}', mail: '{mail}' }),
    {
      id: 'mcp',
      kind: 'tool',
      tool_name: 'mcp',
      params: { server_url: mcpUrl, tool: 'add', arguments: { a: 1, b: 2 } },
    },
    call('child', 'Child', { input: { note: 'for {mail}' } }),
    post('blocked', { country: 'KP' }),
    { id: 'join', kind: 'merge' },
  ];
  const edges = [
    ...['plain', 'whole', 'ask', 'each', 'mcp', 'child'].map((id) => edge(id, 'join')),
    edge('each', 'item', 'true'),
    edge('item', 'each'),
    edge('blocked', 'join', 'error'),
  ];
  edges.splice(3, 1, edge('each', 'join', 'false'));
  const workflowId = await engine.define({ nodes, edges } as never, 'Every kind');
  const runId = await engine.trigger(workflowId, { mail: 'bob@example.com' });
  return engine.until(runId, ['success', 'failed'], 40_000);
}

/**
 * Inserts ended runs with steps of an HTTP call to `https://<n>.example.com`, as they are after an execution. One step
 * in ten has an email address in its body.
 */
export async function pastRuns(
  { db, actor }: Pick<Engine, 'db' | 'actor'>,
  workflowId: string,
  { runs, steps }: { runs: number; steps: number },
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    WITH run AS (
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at, finished_at)
      SELECT ${newId('run')} || '-' || n, ${actor.workspaceId}, ${workflowId}, 1, 'success', 'manual', '{}',
             now() - n * interval '1 minute', now() - n * interval '1 minute' + interval '5 s'
      FROM generate_series(1, ${runs}::int) n RETURNING id
    )
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, status, input, output, finished_at)
    SELECT run.id, 'send#' || n, 'send', 'send', 'tool', ARRAY[n], 'success', json_build_object(
             'url', 'https://' || n || '.example.com/orders', 'method', 'POST',
             'body', json_build_object('note', CASE WHEN n % 10 = 0 THEN 'write to ann@example.com' ELSE 'nothing' END)),
           '{}', now()
    FROM run, generate_series(1, ${steps}::int) n
  `);
}

/** A workflow for such runs. */
export const pastWorkflow = (engine: Engine): Promise<string> =>
  engine.define({
    nodes: [
      {
        id: 'send',
        kind: 'tool',
        tool_name: 'http_request',
        params: { url: 'https://a.example.com' },
      },
    ],
    edges: [],
  });
