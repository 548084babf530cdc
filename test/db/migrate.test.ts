import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { messageOf } from '#scripts/stack/output.ts';
import { listFunctions, listMigrations, migrate, missingMigrations } from '#shared/db/migrate.ts';
import { connectDatabase, withClient } from '#shared/db/pool.ts';
import { dumpSchema } from './schema-dump.ts';
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { eventually } from '#test/support/engine.ts';

let database: TestDatabase;
let directory: string;
let name: string;

beforeAll(async () => {
  database = await createTestDatabase();
  directory = mkdtempSync(join(tmpdir(), 'migrations-'));
  const existing = await listMigrations();
  for (const { name: file, sql } of existing) writeFileSync(join(directory, file), sql);
  name = `${String(existing.length + 1).padStart(4, '0')}_a_column.sql`;
  writeFileSync(join(directory, name), 'ALTER TABLE runs ADD COLUMN tried text;');
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await database.drop();
});

/** A folder with the migrations of this build and one more. Returns it and the name of that file. */
async function withNext(title: string, text: string): Promise<{ folder: string; added: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  const existing = await listMigrations();
  for (const { name: file, sql } of existing) writeFileSync(join(folder, file), sql);
  const added = `${String(existing.length + 1).padStart(4, '0')}_${title}.sql`;
  writeFileSync(join(folder, added), text);
  return { folder, added };
}

/** Resolves with the process of the session that waits for the lock of a table. */
const waiterOf = (url: string): Promise<number> =>
  withClient(url, async (client) => {
    let pid = 0;
    await eventually(async () => {
      const { rows } = await client.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'relation'`,
      );
      pid = rows[0]?.pid ?? 0;
      return pid !== 0;
    });
    return pid;
  });

const twoTables =
  'ALTER TABLE budgets ADD COLUMN tried text; ALTER TABLE runs ADD COLUMN tried text;';

test('a migration behind a long reader lets other reads pass, and is applied when the reader has ended', async () => {
  await withClient(database.url, async (reader) => {
    await reader.query("SET application_name = 'a backup'");
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM runs');
    const waits: string[] = [];
    const waitedTwice = Promise.withResolvers<undefined>();
    const migrating = migrate(database.url, {
      directory,
      lockTimeoutMs: 50,
      pauseMs: 20,
      onWait: (text) => {
        waits.push(text);
        if (waits.length === 2) waitedTwice.resolve(undefined);
      },
    });
    await Promise.race([waitedTwice.promise, migrating]);
    expect(waits[0]).toMatch(
      new RegExp(`^Migration ${name} needs a table that another transaction uses; .*a backup`),
    );
    // Between the attempts nothing waits for the lock of the migration.
    await withClient(database.url, (other) => other.query('SELECT count(*) FROM runs'));
    await reader.query('COMMIT');
    expect(await migrating).toEqual([name]);
  });
});

test('a migration that gets no lock in time changes nothing, and reports what to end', async () => {
  const further = name.replace(/^\d+/, (n) => String(Number(n) + 1).padStart(4, '0'));
  writeFileSync(join(directory, further), 'ALTER TABLE runs ADD COLUMN tried_too text;');
  await withClient(database.url, async (reader) => {
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM runs');
    const migrating = migrate(database.url, {
      directory,
      lockTimeoutMs: 20,
      pauseMs: 10,
      failAfterMs: 100,
    });
    await expect(migrating).rejects.toThrow(/not free within \d+ s\. End that, or wait for it/);
    await reader.query('ROLLBACK');
    const { rows } = await reader.query('SELECT name FROM migrations WHERE name = $1', [further]);
    expect(rows).toEqual([]);
  });
});

test('a migration that deadlocks with the service gives way to it, and is tried again', async () => {
  const other = await createTestDatabase();
  const { folder, added } = await withNext('two_tables', twoTables);
  try {
    await withClient(other.url, async (service) => {
      await service.query('BEGIN');
      // Postgres ends the transaction that finds the deadlock, and this one does not look for it.
      await service.query("SET LOCAL deadlock_timeout = '1min'");
      await service.query('SELECT count(*) FROM runs');
      const waits: string[] = [];
      const migrating = migrate(other.url, {
        directory: folder,
        lockTimeoutMs: 10_000,
        pauseMs: 20,
        onWait: (text) => waits.push(text),
      });
      await waiterOf(other.url);
      await service.query('SELECT count(*) FROM budgets');
      await service.query('COMMIT');
      expect(await migrating).toEqual([added]);
      expect(waits).toEqual([expect.stringMatching(/needs a table .*: trying again$/)]);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await other.drop();
  }
});

test('of several migrators that start at once, each migration is applied by one', async () => {
  const empty = await createEmptyDatabase();
  try {
    const done = await Promise.all([1, 2, 3].map(() => migrate(empty.url)));
    const files = [...(await listMigrations()), ...(await listFunctions())];
    expect(done.flat()).toEqual(files.map(({ name: file }) => file));
    const committed = join(import.meta.dirname, '../../migrations/schema.sql');
    expect(await dumpSchema(empty.url)).toBe(readFileSync(committed, 'utf8'));
  } finally {
    await empty.drop();
  }
});

test('a migrator whose connection is lost leaves the old schema whole, and the next one continues', async () => {
  const other = await createTestDatabase();
  const { folder, added } = await withNext('lost', twoTables);
  try {
    const before = await dumpSchema(other.url);
    await withClient(other.url, async (service) => {
      await service.query('BEGIN');
      await service.query('SELECT count(*) FROM runs');
      const migrating = migrate(other.url, { directory: folder, lockTimeoutMs: 60_000 });
      const lost = expect(migrating).rejects.toThrow(added);
      const pid = await waiterOf(other.url);
      // What has been done of it is undone at once, and with it goes the lock of migrations.
      await service.query('SELECT pg_terminate_backend($1, 10000)', [pid]);
      await lost;
      await service.query('COMMIT');
    });
    expect(await dumpSchema(other.url)).toBe(before);
    expect(await migrate(other.url, { directory: folder })).toEqual([added]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await other.drop();
  }
});

test('a migration that fails is reported with its name and cause', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  try {
    for (const { name: file, sql } of await listMigrations(directory)) {
      writeFileSync(join(folder, file), sql);
    }
    const [last = ''] = readdirSync(folder).sort().reverse();
    const failing = `${String(Number.parseInt(last, 10) + 1).padStart(4, '0')}_fails.sql`;
    writeFileSync(join(folder, failing), 'ALTER TABLE runs DROP COLUMN nowhere;');
    const failure = await migrate(database.url, { directory: folder }).then(
      () => 'none',
      messageOf,
    );
    expect(failure).toBe(
      `Migration ${failing} failed: column "nowhere" of relation "runs" does not exist`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a migration that fails half way leaves the old schema whole, and the next start continues', async () => {
  const { folder, added } = await withNext('half', '');
  const other = await createTestDatabase();
  try {
    const before = await dumpSchema(other.url);
    const begun = 'ALTER TABLE runs ADD COLUMN half text; CREATE TABLE halves (id text);';
    // All its statements succeed, and then it cannot be recorded.
    const record = `INSERT INTO migrations (name, digest) VALUES ('${added}', 'taken');`;
    writeFileSync(join(folder, added), `${begun} ${record}`);
    await expect(migrate(other.url, { directory: folder })).rejects.toThrow(
      `Migration ${added} failed`,
    );
    expect(await dumpSchema(other.url)).toBe(before);
    writeFileSync(join(folder, added), begun);
    expect(await migrate(other.url, { directory: folder })).toEqual([added]);
    expect(await dumpSchema(other.url)).toContain('halves');
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await other.drop();
  }
});

describe('a function', () => {
  let functions: string;
  beforeAll(() => {
    functions = mkdtempSync(join(tmpdir(), 'functions-'));
  });
  afterAll(() => rmSync(functions, { recursive: true, force: true }));

  const define = (text: string) =>
    writeFileSync(
      join(functions, 'answer_1.sql'),
      `CREATE FUNCTION answer_1() RETURNS int LANGUAGE sql RETURN ${text};`,
    );

  test('is created once after the migrations, and must not be edited afterward', async () => {
    const options = { directory, functions };
    define('42');
    expect(await migrate(database.url, options)).toContain('functions/answer_1.sql');
    expect(await migrate(database.url, options)).toEqual([]);
    await withClient(database.url, async (client) => {
      const { rows } = await client.query('SELECT answer_1() AS answer');
      expect(rows).toEqual([{ answer: 42 }]);
    });
    define('43');
    const further = (await listMigrations(directory)).length + 1;
    const rest = join(directory, `${String(further).padStart(4, '0')}_rest.sql`);
    writeFileSync(rest, 'CREATE TABLE rest (id text);');
    await expect(migrate(database.url, options)).rejects.toThrow(
      'Migration functions/answer_1.sql was edited after it ran',
    );
    rmSync(rest);
    // It is found before anything is applied.
    await withClient(database.url, async (client) => {
      const { rows } = await client.query("SELECT to_regclass('rest') AS found");
      expect(rows).toEqual([{ found: null }]);
    });
  });

  test('has a file with its name', async () => {
    for (const { name: file, sql } of await listFunctions()) {
      const created = [...sql.matchAll(/^CREATE FUNCTION (\w+)\(/gm)].map(([, created]) => created);
      expect([file, created]).toEqual([file, [file.replace(/^functions\/(.*)\.sql$/, '$1')]]);
    }
  });

  test("that is missing shows that the database does not have this build's schema", async () => {
    const db = await connectDatabase(database.url);
    try {
      expect(await missingMigrations(db)).toEqual([]);
      await withClient(database.url, (client) =>
        client.query("DELETE FROM migrations WHERE name = 'functions/admit_run_1.sql'"),
      );
      expect(await missingMigrations(db)).toEqual(['functions/admit_run_1.sql']);
    } finally {
      await db.end();
    }
  });
});
