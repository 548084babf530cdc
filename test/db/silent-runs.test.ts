import { beforeAll, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { markLost, takeSilentRuns } from '#shared/db/runs/silent.ts';
import { echo, useEngine } from '#test/support/engine.ts';

const engine = useEngine({ worker: false });
let runIds: string[];
beforeAll(async () => {
  const workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
  runIds = await Promise.all(Array.from({ length: 12 }, () => engine.trigger(workflowId)));
  // A run whose start is still in the outbox is not compared.
  await Promise.all(runIds.map((id) => engine.carriedOut(id)));
});

const lookedAt = (secondsAgo: number, except: readonly string[] = []) =>
  engine.db.query(sql.unsafe`
    UPDATE runs SET updated_at = now() - interval '1 hour', checked_at = now() - ${secondsAgo}::int * interval '1 s'
    WHERE id <> ALL (${sql.array([...except], 'text')})`);
const take = async (suspects: readonly string[], limit = 3) => {
  const taken = await takeSilentRuns(engine.db, {
    lookMs: 2_000,
    suspectMs: 1_000,
    graceMs: 5_000,
    suspects,
    limit,
  });
  return taken.map(({ id }) => id);
};
test('suspected and lost runs do not wait for other runs', async () => {
  const [suspect = '', lost = ''] = runIds;
  await markLost(engine.db, lost, true);
  await lookedAt(60, [suspect, lost]);
  await engine.db.query(sql.unsafe`
    UPDATE runs SET lost_since = now() - interval '6 s', checked_at = now() - interval '6 s' WHERE id = ${lost}`);
  await engine.db.query(sql.unsafe`
    UPDATE runs SET updated_at = now(), checked_at = now() - interval '1500 ms' WHERE id = ${suspect}`);
  const taken = await take([suspect]);
  expect(taken).toHaveLength(5);
  expect(taken).toEqual(expect.arrayContaining([suspect, lost]));
  // It was just checked, maybe by another process.
  expect(await take([suspect])).not.toContain(suspect);
});

test('a run lost within the grace period is skipped, suspected or not', async () => {
  const [, , lost = ''] = runIds;
  await lookedAt(60);
  await markLost(engine.db, lost, true);
  expect(await take([lost], 20)).not.toContain(lost);
});

test('a run with an outbox row is skipped', async () => {
  const [, , , waiting = ''] = runIds;
  await lookedAt(60);
  await engine.db.query(sql.unsafe`
    INSERT INTO outbox (run_id, kind) VALUES (${waiting}, 'cancel')`);
  expect(await take([waiting], 20)).not.toContain(waiting);
});
