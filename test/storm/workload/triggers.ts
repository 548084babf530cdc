import { setTimeout as sleep } from 'node:timers/promises';
import { signInboundWebhook } from '#client/index.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import type { Feature } from '#test/storm/world.ts';
import { selfRunning } from './graphs.ts';

/** One event, sent as by a real sender: retried until a response, and sometimes sent twice at once. */
export const hooks: Feature = {
  name: 'hooks',
  weight: 10,
  run: async (world, random, id) => {
    const { path, secret, workflowId } = world.hook;
    const eventId = `event-${id}`;
    const body = JSON.stringify({ act: id, event_id: eventId });
    const send = async (via?: 0 | 1) =>
      world.caller.act(
        undefined,
        'hook',
        {
          method: 'POST',
          path,
          body,
          headers: { ...(await signInboundWebhook({ secret, body })) },
          ...(via === undefined ? {} : { via }),
        },
        { workflowId, nonce: id, eventId },
      );
    const copies = random.int(1, 3);
    for (let tries = 0; tries < 5; tries += 1) {
      const answers = await Promise.all(
        Array.from({ length: tries === 0 ? copies : 1 }, (_, index) =>
          send(index % 2 === 0 ? 0 : 1),
        ),
      );
      if (answers.some(({ outcome }) => outcome === 'acknowledged')) return;
      await sleep(random.int(200, 1_000));
    }
  },
};

/** Manual runs of a schedule, between its times. */
export const schedules: Feature = {
  name: 'schedules',
  weight: 3,
  run: async (world, random) => {
    const { id } = random.pick(world.schedules);
    await world.caller.act(
      world.people.owner,
      'trigger schedule',
      { method: 'POST', path: `/api/schedules/${id}/trigger` },
      { scheduleId: id },
    );
  },
};

const MCP_TIMEOUT_MS = 12_000;

/** A model that starts a run over MCP, and retries with the same key if there is no response. */
export const mcp: Feature = {
  name: 'mcp',
  weight: 5,
  run: async (world, random, id) => {
    const workflowId = world.workflows[random.pick(selfRunning)];
    const key = `key-${id}`;
    for (let tries = 0; tries < 3; tries += 1) {
      const at = Date.now();
      const note = (
        rest: Pick<Parameters<typeof world.acts.add>[0], 'outcome' | 'status'> & {
          detail?: string;
          runId?: string;
        },
      ) => {
        const { runId, ...outcome } = rest;
        world.acts.add({
          id: `mcp-${id}-${tries}`,
          kind: 'mcp',
          at,
          until: Date.now(),
          ...outcome,
          about: { workflowId, nonce: id, key, ...(runId === undefined ? {} : { runId }) },
        });
      };
      try {
        const client = await connectMcp(
          `${random.pick(world.apiUrls)}/api/mcp`,
          undefined,
          world.people.program.headers,
        );
        try {
          const result: any = await client.callTool(
            {
              name: 'run_workflow',
              arguments: { workflow: workflowId, input: { act: id }, idempotency_key: key },
            },
            { timeout: MCP_TIMEOUT_MS },
          );
          if (result.isError !== true) {
            return note({
              outcome: 'acknowledged',
              status: 200,
              runId: result.structuredContent.run_id,
            });
          }
          // The text of the error does not show whether something was written.
          note({
            outcome: 'unknown',
            status: null,
            detail: JSON.stringify(result.content).slice(0, 300),
          });
        } finally {
          await client.close().catch(() => undefined);
        }
      } catch (error) {
        note({ outcome: 'unknown', status: null, detail: String(error).slice(0, 300) });
      }
      await sleep(random.int(300, 1_200));
    }
  },
};
