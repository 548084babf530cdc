import { randomBytes } from 'node:crypto';
import { withClient } from '#shared/db/pool.ts';

// Runs statements on a server that we administer, for the tests' template database and its clones.

export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

function uniqueName(stem: string): string {
  return `${stem}_${randomBytes(5).toString('hex')}`;
}

/** Creates a migrated database that accepts no connections, so that cloning it never waits. Returns its name. */
export async function createTemplate(
  adminUrl: string,
  migrate: (url: string) => Promise<unknown>,
): Promise<string> {
  const name = uniqueName('template');
  await withClient(adminUrl, (client) =>
    client.query(`create database ${client.escapeIdentifier(name)}`),
  );
  await migrate(databaseUrl(adminUrl, name));
  await withClient(adminUrl, (client) =>
    client.query(`alter database ${client.escapeIdentifier(name)} with allow_connections false`),
  );
  return name;
}

export async function cloneDatabase(
  adminUrl: string,
  template: string,
  stem: string,
): Promise<string> {
  const name = uniqueName(stem);
  await withClient(adminUrl, (client) =>
    client.query(
      // For a small template, copying files is faster than writing its pages to the WAL.
      `create database ${client.escapeIdentifier(name)} template ${client.escapeIdentifier(template)} strategy file_copy`,
    ),
  );
  return name;
}

/** Even with open connections, because a failed test must not leave its database behind. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await withClient(adminUrl, (client) =>
    client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`),
  );
}
