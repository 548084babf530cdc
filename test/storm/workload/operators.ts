import type { Feature } from '#test/storm/world.ts';
import { CALL_LIMITS } from './graphs.ts';
import { act, start, until } from './runs.ts';

/** Terminates an execution as in the Temporal UI; the run fails, is resumed, and continues from its ledger. */
export const terminations: Feature = {
  name: 'terminations',
  weight: 4,
  run: async (world, random, id) => {
    const runId = await start(world, random, random.pick(['slow', 'looped', 'gated']), id);
    if (runId === undefined) return;
    await until(world, runId, ['running', 'paused'], 8_000);
    const at = Date.now();
    const note = (outcome: 'acknowledged' | 'unknown', detail?: string) =>
      world.acts.add({
        id: `terminate-${id}`,
        kind: 'terminate',
        at,
        until: Date.now(),
        outcome,
        status: null,
        ...(detail === undefined ? {} : { detail }),
        about: { runId },
      });
    try {
      await world.terminate(runId);
      note('acknowledged');
    } catch (error) {
      note('unknown', String(error));
    }
    const run = await until(world, runId, ['failed', 'success'], 25_000);
    if (run?.status === 'failed') await act(world, world.people.owner, 'resume', runId);
  },
};

const detectors = ['email', 'phone', 'iban', 'ip'];

/** The workspace's policies change while steps are checked against them. */
export const policies: Feature = {
  name: 'policies',
  weight: 3,
  run: async (world, random) => {
    const body = {
      redaction: { detectors: detectors.filter(() => random.chance(0.5)) },
      limits: Object.values(CALL_LIMITS),
    };
    await world.caller.act(world.people.owner, 'set policies', {
      method: 'PUT',
      path: '/api/workspace/policies',
      body,
    });
  },
};

/** Pings an endpoint. */
export const pings: Feature = {
  name: 'pings',
  weight: 3,
  run: async (world) => {
    await world.caller.act(
      world.dataKey,
      'ping',
      { method: 'POST', path: `/v1/webhooks/${world.endpointId}/ping` },
      { endpointId: world.endpointId },
    );
  },
};
