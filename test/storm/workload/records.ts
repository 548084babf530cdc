import type { Feature } from '#test/storm/world.ts';

const SHARED_RECORDS = 12;

/** A batch with a new record and an event of it, and a new version of a record that other clients change too. */
export const ingest: Feature = {
  name: 'ingest',
  weight: 10,
  run: async (world, random, id) => {
    const shared = `shared-${random.int(1, SHARED_RECORDS)}`;
    const entity = (externalKey: string) => ({
      type: 'entity',
      external_key: externalKey,
      entity_type: 'project',
      canonical_name: externalKey,
      attributes: { act: id, size: random.int(1, 1_000_000) },
      confidence: 0.5,
    });
    const body = {
      feed_id: world.feedId,
      records: [
        entity(`own-${id}`),
        {
          type: 'event',
          external_key: `event-${id}`,
          event_type: 'permit_filed',
          primary_external_key: `own-${id}`,
          occurred_at: '2026-01-01T00:00:00Z',
          summary: `Event of ${id}`,
        },
        entity(shared),
      ],
    };
    for (let tries = 0; tries < 3; tries += 1) {
      const { outcome } = await world.caller.act(
        world.people.program,
        'ingest',
        { method: 'POST', path: '/api/data/ingest', body },
        { nonce: id, shared },
      );
      if (outcome === 'acknowledged') return;
    }
  },
};

/** Charged reads. They change accounts, so they are acts. */
export const reads: Feature = {
  name: 'reads',
  weight: 10,
  run: async (world, random) => {
    for (let page = 0; page < 3; page += 1) {
      const path = random.pick([
        '/v1/entities?limit=20',
        '/v1/events?limit=10',
        '/v1/changes?limit=10',
      ]);
      const answer = await world.caller.act(world.dataKey, 'read', { method: 'GET', path });
      if (answer.outcome !== 'acknowledged') continue;
      answer.act.about['credits'] = answer.body.meta.credits_consumed;
      answer.act.about['requestId'] = answer.body.meta.request_id;
    }
  },
};

export const exports: Feature = {
  name: 'exports',
  weight: 3,
  run: async (world, random) => {
    const answer = await world.caller.act(world.dataKey, 'export', {
      method: 'POST',
      path: '/v1/exports',
      body: { kind: random.pick(['entities', 'events']), format: 'json', feed_id: world.feedId },
    });
    if (answer.outcome !== 'acknowledged') return;
    answer.act.about['credits'] = answer.body.meta.credits_consumed;
    answer.act.about['requestId'] = answer.body.meta.request_id;
  },
};
