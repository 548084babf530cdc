import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { draftAt, draftCalls, graphOf, ifMatch } from './draft-calls.ts';

const api = useTestApi();
let calls: ReturnType<typeof draftCalls>;
beforeAll(async () => {
  calls = draftCalls(api);
});

describe('races', () => {
  const ROUNDS = 15;

  test('among two members who publish the same draft, exactly one succeeds', async () => {
    const other = await api.another();
    const { id } = await calls.create();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { etag } = (await calls.save(id, { graph: graphOf(`r${round}`) })).body;
      const answers = await Promise.all(
        [api.call, other.call].map(async (call) =>
          call('POST', `/api/workflows/${id}/publish`, { from_draft: true }, ifMatch(etag)),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      const current = await calls.currentOf(id);
      expect(current).toMatchObject({ version: round + 1, graph: graphOf(`r${round}`) });
      expect(answers.find(({ status }) => status === 412)!.body.current).toEqual(current);
    }
    await other.app.close();
  });

  test('among two members who create or change a draft, exactly one succeeds', async () => {
    const { id } = await calls.create();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const begun = await Promise.all(
        ['a', 'b'].map((node) => calls.save(id, { graph: graphOf(node) })),
      );
      expect(begun.map(({ status }) => status).sort()).toEqual([201, 428]);
      const { etag } = (await api.call('GET', draftAt(id))).body;
      const changed = await Promise.all(
        ['c', 'd'].map((node) => calls.save(id, { graph: graphOf(node) }, ifMatch(etag))),
      );
      expect(changed.map(({ status }) => status).sort()).toEqual([200, 412]);
      const saved = changed.find(({ status }) => status === 200)!.body;
      expect(changed.find(({ status }) => status === 412)!.body.current).toEqual(saved);
      await api.call('DELETE', draftAt(id), undefined, ifMatch(saved.etag));
    }
  });

  test('between a publication and a save, the later one finds what the earlier one did', async () => {
    const { id } = await calls.create();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { etag } = (await calls.save(id, { graph: graphOf(`a${round}`) })).body;
      const [published, saved] = await Promise.all([
        calls.publish(id, etag),
        calls.save(id, { graph: graphOf(`b${round}`) }, ifMatch(etag)),
      ]);
      expect([published.status, saved.status].sort()).toEqual([200, 412]);
      const left = await api.call('GET', draftAt(id));
      expect(left.status).toBe(published.status === 200 ? 404 : 200);
      if (left.status === 200) {
        expect(published.body.current).toEqual(left.body);
        await api.call('DELETE', draftAt(id), undefined, ifMatch(left.body.etag));
      }
    }
  });

  test('runs, webhooks and schedules use the current version, never a draft', async () => {
    const { id } = await calls.create();
    await api.call('POST', `/api/workflows/${id}/publish`);
    const { url } = (await api.call('POST', `/api/workflows/${id}/webhook`)).body;
    const schedule = (
      await api.call('POST', '/api/schedules', {
        workflow_id: id,
        cron: '0 0 1 1 *',
        overlap: 'allow',
      })
    ).body;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { etag } = (await calls.save(id, { graph: graphOf(`draft${round}`) })).body;
      const [answer, ...started] = await Promise.all([
        calls.publish(id, etag),
        api.call('POST', `/api/workflows/${id}/runs`, {}),
        api.call('POST', new URL(url).pathname, { round }),
        api.call('POST', `/api/schedules/${schedule.id}/trigger`),
        calls.save(id, { graph: graphOf(`other${round}`) }),
      ]);
      expect(answer.status).toBe(200);
      // The version that a run is pinned to is the one before, or the published one.
      for (const { status } of started.slice(0, 3)) expect([200, 201]).toContain(status);
      const left = await api.call('GET', draftAt(id));
      if (left.status === 200) {
        await api.call('DELETE', draftAt(id), undefined, ifMatch(left.body.etag));
      }
    }
    const graphs = await api.db.any(sql.type(z.object({ graph: z.any(), version: z.number() }))`
      SELECT v.graph, r.workflow_version AS version FROM runs r
      JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
      WHERE r.workflow_id = ${id}
    `);
    expect(graphs.length).toBe(3 * ROUNDS);
    for (const { graph, version } of graphs) {
      expect(graph).toEqual(graphOf(version === 1 ? 'v1' : `draft${version - 1}`));
    }
  });
});
