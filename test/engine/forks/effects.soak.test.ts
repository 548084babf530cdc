import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import { feedInput } from '#shared/contract/data/feed.ts';
import { sourceInput } from '#shared/contract/data/source.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { createFeed } from '#shared/db/data/feeds.ts';
import { createSource } from '#shared/db/data/sources.ts';
import { sql } from '#shared/db/pool.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { createCustomTool } from '#shared/db/tools/custom-tools.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { registerEndpoint } from '#shared/operations/webhooks/endpoints.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { rerunRun, type RerunRequest } from '#shared/operations/forks/forks.ts';
import { startMailServer } from '#test/fakes/mail-server.ts';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, eventually, mock, startEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { useStage } from '#test/support/stage.ts';

/** How many items the rehearsed runs have; each has nine steps with effects. */
const ITEMS = Number(process.env['EFFECT_ITEMS'] ?? 30);

const tools = useStage(startToolServer);
const mails = useStage(startMailServer);
const mcp = useStage(startMcpServer);
const engine = useStage(() =>
  startEngine({
    worker: false,
    env: {
      CHAT_WEBHOOK_URL: `${tools.url}/chat`,
      EMAIL_API_KEY: 'a key of this test',
      ENCRYPTION_KEY: 'another key of this test',
      DELIVERY_BACKOFF_SECONDS: '0.2',
      EMAIL_API_URL: mails.url,
      HEARTBEAT_TIMEOUT_SECONDS: '3',
    },
  }),
);

const tool = (id: string, tool_name: string, params: object) =>
  ({ id, kind: 'tool', tool_name, params }) as never;

/** Every kind of effect, for each item. What they send depends on `word`. */
const graph = (expression: string, feedId: string): GraphInput => {
  const body = [
    tools.node('http', { params: { url: `${tools.url}/http`, method: 'POST', body: '{word}' } }),
    tool('custom', 'custom:notify', { note: '{word}' }),
    tool('chat', 'send_chat_message', { text: '{word}' }),
    tool('mail', 'send_email', { to: 'ann@example.com', subject: '{word}', text: '{word}' }),
    tool('mcp', 'mcp', { server_url: mcp.url, tool: 'add', arguments: { a: '{n}', b: 1 } }),
    tool('upsert', 'entity_upsert', {
      ...{ feed_id: feedId, external_key: 'k{map.index}', entity_type: 'company' },
      ...{ canonical_name: '{word}', attributes: {} },
    }),
    tool('emit', 'event_emit', {
      ...{ feed_id: feedId, external_key: 'e{map.index}', event_type: 'founded' },
      ...{ primary_external_key: 'k{map.index}', occurred_at: '2026-01-01T00:00:00Z' },
      summary: '{word}',
    }),
    tool('report', 'source_report', { name: 'Portal', ok: false, error: '{word}' }),
    tool('send', 'send_event', { name: 'word.said', data: '{word}' }),
    mock('ask', { output: '{word}', cost_usd: 0.01 }, { prompt: '{word}' }),
  ] as { id: string }[];
  const ids = ['word', ...body.map(({ id }) => id)];
  return {
    nodes: [
      { id: 'map', kind: 'map', items: 'list', concurrency: 10 },
      echo('word', expression),
      echo('n', '1'),
      ...body,
    ] as never,
    edges: [
      edge('n', 'map'),
      edge('map', 'word', 'true'),
      ...ids.slice(1).map((id, at) => edge(ids[at]!, id)),
      edge(ids.at(-1)!, 'map'),
    ],
  };
};

const rowCounts = () =>
  engine.db.one(sql.type(
    z.object({
      records: z.number(),
      reports: z.number(),
      used: z.number(),
      deliveries: z.number(),
      cost: z.number(),
    }),
  )`
    SELECT (SELECT coalesce(sum(version), 0)::int FROM data_entities) + (SELECT count(*)::int FROM data_events)
             + (SELECT count(*)::int FROM events) AS records,
           (SELECT coalesce(sum(consecutive_failures), 0)::int FROM data_sources) AS reports,
           (SELECT coalesce(sum(runs), 0)::int FROM run_counters) AS used,
           (SELECT count(*)::int FROM data_deliveries) AS deliveries,
           (SELECT coalesce(sum(cost_micros), 0)::int FROM runs) AS cost
  `);
const seen = async () => ({
  ...(await rowCounts()),
  requests: ['http', 'notify', 'chat', 'hook'].map((name) => tools.calls(name).length),
  mails: mails.seen.length,
  mcp: mcp.seen.length,
});

test('rehearsed effects of every kind do nothing, even while workers are killed', async () => {
  const { db, actor, deps } = engine;
  const { config } = deps;
  const feed = await createFeed(db, actor, feedInput.parse({ name: 'Companies' }));
  await createSource(db, actor, sourceInput.parse({ name: 'Portal', type: 'portal' }));
  const notify = {
    name: 'notify',
    endpoint_url: `${tools.url}/notify`,
    input_schema: { type: 'object' },
  };
  await createCustomTool(db, actor, customToolInput.parse(notify), () => ({}));
  await registerEndpoint(
    { db, sealer: createSealer(config), egress: createEgress({ allow: config.egressAllow }) },
    actor,
    {
      url: `${tools.url}/hook`,
      events: ['run.completed', 'run.failed', 'entity.created'],
      is_demo: false,
    },
  );
  let worker = await startWorkerProcess(engine.env);
  try {
    const workflowId = await engine.define(graph("'a' + 'b'", feed.id));
    const runId = await engine.trigger(workflowId, {
      list: Array.from({ length: ITEMS }, (_, at) => at),
    });
    const source = await engine.until(runId, ['success', 'failed'], 300_000);
    expect([source.status, source.error]).toEqual(['success', null]);
    await eventually(async () => (await pendingDeliveries()) === 0, 120_000);
    const before = await seen();
    expect(before).toMatchObject({
      mails: ITEMS,
      requests: [ITEMS, ITEMS, ITEMS, before.deliveries],
    });
    expect(before.deliveries).toBe(ITEMS + 1);

    const rehearse = async (rest: Partial<RerunRequest> = {}) => {
      const request = { actor, runId, trigger: 'manual', mode: 'recorded', ...rest } as const;
      const started = await rerunRun(engine.deps, request);
      await started.dispatched;
      return started.runId;
    };
    const ended = (id: string) => engine.until(id, ['success', 'failed'], 300_000);

    // Copied at the start.
    expect(await ended(await rehearse())).toMatchObject({
      status: 'success',
      output: source.output,
    });
    // Taken from the record when they are reached, by workers that are killed at the same time.
    await updateWorkflow(db, actor, workflowId, { graph: graph("'ab'", feed.id) as never });
    const later = await rehearse({ version: 2 });
    for (const part of [0.2, 0.5, 0.8]) {
      await eventually(async () => (await countSteps(later)) >= part * ITEMS * 9, 120_000);
      await worker.kill();
      worker = await startWorkerProcess(engine.env);
    }
    expect(await ended(later)).toMatchObject({ status: 'success', output: source.output });
    // Without a record.
    await updateWorkflow(db, actor, workflowId, { graph: graph("'other'", feed.id) as never });
    expect(await ended(await rehearse({ version: 3 }))).toMatchObject({
      failure: { kind: 'unrecorded' },
    });
    expect(await seen()).toEqual(before);
  } finally {
    await worker.stop();
  }
}, 900_000);

const pendingDeliveries = (): Promise<number> =>
  engine.db.oneFirst(sql.type(z.object({ waiting: z.number() }))`
    SELECT count(*)::int AS waiting FROM data_deliveries WHERE status = 'pending'
  `);
const countSteps = (runId: string): Promise<number> =>
  engine.db.oneFirst(sql.type(z.object({ steps: z.number() }))`
    SELECT count(*)::int AS steps FROM steps WHERE run_id = ${runId} AND status = 'success'
  `);
