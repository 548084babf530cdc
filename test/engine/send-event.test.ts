import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { insertEvent } from '#shared/db/events/events.ts';
import { createTrigger } from '#shared/operations/events/triggers.ts';
import { sql } from '#shared/db/pool.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { chain, echo, edge, eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const tool = (params: object, id = 'send') =>
  ({ id, kind: 'tool', tool_name: 'send_event', params }) as never;
const eventRow = z.object({
  id: z.string(),
  data: z.unknown(),
  source: z.string(),
  run_id: z.string().nullable(),
  depth: z.number(),
  given_id: z.string(),
  created_by: z.string().nullable(),
});
const eventsOf = (name: string) =>
  engine.db.any(sql.type(eventRow)`
    SELECT id, data, source, run_id, depth, given_id, created_by FROM events WHERE name = ${name} ORDER BY seq`);
const trigger = (workflowId: string, event: string) =>
  createTrigger(engine.db, engine.actor, {
    ...{ workflowId, event, match: null, input: null, enabled: true },
  });

test('a run sends an event, which ends the wait of another run', async () => {
  const waiting = await engine.start(
    chain({
      id: 'w',
      kind: 'wait',
      event: { name: 'part.done', match: 'event.data.n == n' },
    } as never),
    { n: 4 },
  );
  const runId = await engine.start(chain(tool({ name: 'part.done', data: { n: '{n}' } })), {
    n: 4,
  });
  const { output } = await engine.until(runId, ['success']);
  const event = (await eventsOf('part.done'))[0]!;
  expect(output).toEqual({ send: { id: event.id, name: 'part.done' } });
  expect(event).toMatchObject({ source: 'tool', run_id: runId, depth: 1, created_by: null });
  await engine.until(waiting, ['success']);
});

test('is sent once, however often its step is executed, and is not tried again if refused', async () => {
  const graph = (params: object): GraphInput => ({
    nodes: [
      tool(params),
      { id: 'gate', kind: 'human_gate', prompt: 'Go on?' },
      echo('b', 'missing'),
    ] as never,
    edges: [edge('send', 'gate'), edge('gate', 'b')],
  });
  const runId = await engine.start(graph({ name: 'once.sent' }));
  await engine.until(runId, ['paused']);
  const before = (await eventsOf('once.sent'))[0]!;
  // As if the worker had been killed before it could store that the step ended.
  const again = await insertEvent(engine.db, {
    ...{
      workspaceId: engine.actor.workspaceId,
      name: 'once.sent',
      data: {},
      runId,
      source: 'tool',
    },
    givenId: before.given_id,
    by: { id: null, name: null },
  });
  expect([again.created, again.event.id]).toEqual([false, before.id]);
  expect(await eventsOf('once.sent')).toHaveLength(1);
  await engine.cancel(runId);
  const refused = await engine.start(graph({ name: 'run.completed' }));
  const { error } = await engine.until(refused, ['failed']);
  expect(error).toContain("send_event: 'name' is reserved");
});

test('runs that start each other by events end after 8 of them, and say so', async () => {
  const workflowId = await engine.define(chain(tool({ name: 'ball.passed' })));
  const { id: triggerId } = await trigger(workflowId, 'ball.passed');
  await engine.trigger(workflowId);
  const last = async () =>
    engine.db.maybeOneFirst(sql.type(z.object({ refusal: z.string() }))`
      SELECT refusal FROM event_starts WHERE trigger_id = ${triggerId} AND refusal IS NOT NULL`);
  await eventually(async () => (await last()) !== null, 60_000);
  const events = await eventsOf('ball.passed');
  expect(events.map(({ depth }) => depth)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(await last()).toContain('9 runs, each started by an event of the one before');
});

test('an event of a child is as deep as that of the run above it', async () => {
  const child = await engine.define(chain(tool({ name: 'child.sent' })));
  const parent = await engine.define(
    chain({ id: 'c', kind: 'workflow', workflow: child } as never),
  );
  await trigger(parent, 'start.it');
  const sender = await engine.start(chain(tool({ name: 'start.it' })));
  await engine.until(sender, ['success']);
  await eventually(async () => (await eventsOf('child.sent')).length === 1);
  expect(await eventsOf('child.sent')).toMatchObject([{ depth: 2 }]);
});
