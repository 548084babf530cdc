import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { query } from './stack.ts';

interface Statement {
  calls: number;
  total_ms: number;
  mean_ms: number;
  wal_bytes: number;
  query: string;
}

/** Writes the statements, ordered by the time that Postgres measured, to `statements.md`. */
export async function writeStatements(databaseUrl: string, folder: string): Promise<void> {
  const rows = await query<Statement>(
    databaseUrl,
    `SELECT calls::int, round(total_exec_time::numeric, 1)::float AS total_ms,
            round((total_exec_time / calls)::numeric, 3)::float AS mean_ms, round(wal_bytes / calls)::int AS wal_bytes,
            left(regexp_replace(query, '\\s+', ' ', 'g'), 140) AS query
     FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
     WHERE datname = current_database() ORDER BY total_exec_time DESC LIMIT 40`,
  );
  const lines = [
    '| calls | total, ms | mean, ms | WAL per call, bytes | statement |',
    '|---|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.calls} | ${row.total_ms} | ${row.mean_ms} | ${row.wal_bytes} | ${row.query.replaceAll('|', '\\|')} |`,
    ),
  ];
  writeFileSync(join(folder, 'statements.md'), `${lines.join('\n')}\n`);
}
