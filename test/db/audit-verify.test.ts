import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { sealAuditEntries } from '#shared/db/audit/chain.ts';
import { sql } from '#shared/db/pool.ts';
import { ensureDefaultWorkspace } from '#shared/db/people/workspaces.ts';
import { useDatabase } from '#test/db/use-database.ts';

// Runs `npm run audit:verify` as a real process.

const db = useDatabase();
let workspaceId: string;
let dataDir: string;
beforeAll(async () => {
  workspaceId = await ensureDefaultWorkspace(db, { ownerEmail: 'owner@localhost' });
  dataDir = mkdtempSync(join(tmpdir(), 'audit-verify-'));
});
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
});

async function verify(args: string[], env: Record<string, string> = {}) {
  const { NODE_OPTIONS: _flags, ...inherited } = process.env;
  const script = join(import.meta.dirname, '../../scripts/admin/audit-verify.ts');
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...inherited, DATABASE_URL: db.url, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: output.trim(), errors };
}

test('the check reports in its exit code and in one line whether the log is intact', async () => {
  for (let n = 0; n < 3; n += 1) {
    await recordAudit(
      db,
      { workspaceId, id: null, name: null },
      { action: 'update', targetType: 'workflow', targetId: `wf_${n}` },
    );
  }
  await sealAuditEntries(db, workspaceId);
  const whole = await verify([]);
  expect(whole).toMatchObject({ code: 0, errors: '' });
  const head = /head (\S+)$/.exec(whole.output)?.[1] ?? '';
  expect(whole.output).toBe(
    `${workspaceId}: whole, 3 entries sealed, 0 waiting, 0 decisions at gates and about tool calls, 0 calls made, head ${head}`,
  );
  expect(await verify(['--head', head])).toMatchObject({ code: 0, output: whole.output });

  // Finds the database of a running `npm start`.
  writeFileSync(join(dataDir, 'endpoints.json'), JSON.stringify({ database: db.url }));
  expect(await verify([], { DATABASE_URL: '' })).toMatchObject({ code: 0, output: whole.output });

  const other = `${workspaceId}:2:${'ab'.repeat(32)}`;
  expect(await verify(['--head', other])).toMatchObject({
    code: 1,
    output: `${workspaceId}: TAMPERED WITH: the chain does not hold the noted head, position 2 (3 entries sealed, 0 waiting, 0 decisions at gates and about tool calls, 0 calls made)`,
  });

  await db.query(sql.unsafe`ALTER TABLE audit_log DISABLE TRIGGER ALL`);
  await db.query(sql.unsafe`UPDATE audit_log SET action = 'delete' WHERE target_id = 'wf_1'`);
  await db.query(sql.unsafe`ALTER TABLE audit_log ENABLE TRIGGER ALL`);
  const tampered = await verify([]);
  expect(tampered.code).toBe(1);
  expect(tampered.output).toMatch(
    /^ws_\w+: TAMPERED WITH: the entry or its seal was changed, position 2, entry aud_\w+ \(3 entries sealed/,
  );
  const json = await verify(['--json']);
  expect([json.code, JSON.parse(json.output)]).toEqual([
    1,
    [
      expect.objectContaining({
        workspace_id: workspaceId,
        valid: false,
        sealed: 3,
        first_problem: expect.objectContaining({ position: 2 }),
      }),
    ],
  ]);
}, 60_000);

test('the check fails with a reason when it cannot run', async () => {
  const empty = await verify([], { DATABASE_URL: '', DATA_DIR: join(dataDir, 'none') });
  expect(empty).toMatchObject({ code: 2, output: '' });
  expect(empty.errors).toMatch(/endpoints\.json is not there: start the service/);
  const away = await verify([], { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
  expect(away).toMatchObject({ code: 2, output: '' });
  expect((await verify(['--head', 'x'])).errors).toMatch(/Not a head/);
}, 60_000);
