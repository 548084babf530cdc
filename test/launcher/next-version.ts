import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listMigrations } from '#shared/db/migrate.ts';

const projectDir = join(import.meta.dirname, '../..');

/** What `npm start` loads. The rest is the same in both versions. */
const copied = [
  ...['api', 'activities', 'shared', 'worker', 'workflows', 'scripts', 'migrations'],
  ...['package.json', 'package-lock.json'],
];
const same = ['node_modules', 'docs', 'site', 'console', 'client', 'cli', '.cache'];

/** Tables that the service reads and writes all the time. */
const tables = ['runs', 'steps', 'run_frames', 'outbox', 'gates', 'workflows', 'audit_log'];

/** What a next version can do to the schema by docs/adding-a-migration.md, a table per file. */
const changes = (): [title: string, sql: string][] => [
  ...tables.map((table): [string, string] => [
    `column_of_${table}`,
    `ALTER TABLE ${table} ADD COLUMN of_next text DEFAULT 'default';`,
  ]),
  ['backfill', `UPDATE runs SET of_next = 'filled';`],
  ['check', `ALTER TABLE runs ADD CONSTRAINT next_known CHECK (of_next <> '') NOT VALID;`],
  ['valid', `ALTER TABLE runs VALIDATE CONSTRAINT next_known;`],
  ['table', `CREATE TABLE of_next (run_id text REFERENCES runs ON DELETE CASCADE);`],
];

/**
 * Makes the version after this one in `folder`, a copy of the project with further migrations and a second version of
 * `begin_step_2`, which marks the run in a new column. Returns the names of the added migrations and functions.
 */
export async function makeNextVersion(folder: string): Promise<string[]> {
  for (const name of copied) {
    cpSync(join(projectDir, name), join(folder, name), { recursive: true });
  }
  for (const name of same) symlinkSync(join(projectDir, name), join(folder, name));
  const first = (await listMigrations()).length + 1;
  const added = changes().map(([title, sql], index) => {
    const name = `${String(first + index).padStart(4, '0')}_${title}.sql`;
    writeFileSync(join(folder, 'migrations', name), sql);
    return name;
  });
  const functions = join(folder, 'shared/db/functions');
  const before = readFileSync(join(functions, 'begin_step_2.sql'), 'utf8');
  const after = before
    .replace('CREATE FUNCTION begin_step_2(', 'CREATE FUNCTION begin_step_3(')
    .replace('\nBEGIN\n', `\nBEGIN\n  UPDATE runs r SET of_next = 'next' WHERE r.id = run;\n`);
  writeFileSync(join(functions, 'begin_step_3.sql'), after);
  const caller = join(folder, 'shared/db/steps/steps.ts');
  const calls = readFileSync(caller, 'utf8').replace('FROM begin_step_2(', 'FROM begin_step_3(');
  writeFileSync(caller, calls);
  return [...added, 'functions/begin_step_3.sql'];
}
