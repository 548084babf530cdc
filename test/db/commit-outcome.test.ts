import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { freePorts } from '#scripts/stack/ports.ts';
import { startPostgres, type Postgres } from '#scripts/stack/postgres.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { migrate } from '#shared/db/migrate.ts';
import { ensureDefaultWorkspace, readDefaultOwner } from '#shared/db/people/workspaces.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { type Proxy, startProxy } from '#test/support/proxy.ts';

// A database server that crashes before a commit loses the transaction and assigns its id again.

let port: number;
let server: Postgres;
let wire: Proxy;
let direct: Pool;
const dataDir = mkdtempSync(join(tmpdir(), 'commit-outcome-'));
chmodSync(dataDir, 0o755);
const start = () => startPostgres({ dataDir, port, database: 'product' });

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  server = await start();
  await migrate(server.url);
  // Uncommitted data must not reach the disk by itself, or the id is not assigned again.
  const settings = await connectDatabase(server.url, { maxPoolSize: 1 });
  await settings.query(sql.unsafe`ALTER SYSTEM SET wal_writer_delay = '10s'`);
  await settings.query(sql.unsafe`SELECT pg_reload_conf()`);
  await ensureDefaultWorkspace(settings, { ownerEmail: 'owner@example.com' });
  await settings.end();
  wire = await startProxy({ host: '127.0.0.1', port });
}, 60_000);
afterAll(async () => {
  await wire.close();
  await server.stop(2_000);
});

const crash = async (): Promise<void> => {
  server.child.kill();
  await server.child.exited;
};

/** Commits transactions until one has this id. Returns false when the server will not assign it again. */
async function assignAgain(id: bigint): Promise<boolean> {
  const current = z.object({ id: z.string() });
  for (;;) {
    const row = await direct.one(sql.type(current)`SELECT pg_current_xact_id()::text AS id`);
    if (BigInt(row.id) >= id) return BigInt(row.id) === id;
  }
}

test.each(['assigned again', 'not assigned again yet'])(
  'a transaction that was lost in a crash does not count as committed: its id is %s',
  async (which) => {
    const url = new URL(server.url);
    url.port = String(wire.port);
    for (let round = 0; ; round += 1) {
      const db = await connectDatabase(url.href, { maxPoolSize: 2 });
      const actor = (await readDefaultOwner(db))!;
      let id = 0n;
      const change = db.transaction(async (tx) => {
        await recordAudit(tx, actor, {
          action: 'create',
          targetType: 'workflow',
          targetId: `wf_${which}`,
        });
        const row = z.object({ id: z.string() });
        id = BigInt((await tx.one(sql.type(row)`SELECT pg_current_xact_id()::text AS id`)).id);
        wire.hold();
        return 'changed';
      });
      const outcome = change.then(
        () => 'committed',
        (error: unknown) => String(error),
      );
      while (id === 0n) await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await crash();
      server = await start();
      direct = await connectDatabase(server.url, { maxPoolSize: 1 });
      const reused = which === 'assigned again' ? await assignAgain(id) : true;
      wire.release();
      const said = await outcome;
      const audited = await direct.exists(
        sql.unsafe`SELECT FROM audit_log WHERE target_id = ${`wf_${which}`}`,
      );
      await direct.end();
      await db.end();
      expect({ said, audited }).toEqual({
        said: expect.stringMatching(/terminated/),
        audited: false,
      });
      if (reused) return;
      // The transaction had reached the disk by itself.
      expect(round).toBeLessThan(5);
    }
  },
  60_000,
);
