import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import pg from 'pg';

/** Messages of a base backup: https://www.postgresql.org/docs/current/protocol-replication.html */
const NEW_ARCHIVE = 'n'.charCodeAt(0);
const DATA = 'd'.charCodeAt(0);

/** The part of the connection of `pg` that a query gets, which its types do not describe. */
interface Wire {
  query(text: string): void;
  stream: { pause(): void; resume(): void };
}

/**
 * Writes a base backup of the whole server to `path` as a tar file: all databases at one moment, with the write-ahead
 * log up to it, so that a server started on the extracted files recovers to that moment. The service can write in the
 * meantime. `url` needs an account with the attribute REPLICATION. Returns the position in the log of that moment.
 */
export async function writeBaseBackup(url: string, path: string): Promise<string> {
  const settings: pg.ClientConfig & { replication: string } = {
    connectionString: url,
    replication: 'true',
    application_name: 'backup',
  };
  const client = new pg.Client(settings);
  client.on('error', () => undefined);
  await client.connect();
  const file = createWriteStream(path, { mode: 0o600, flags: 'wx' });
  try {
    await once(file, 'open');
    // Until the connection ends, the server keeps the log that the backup needs.
    await client.query(
      `CREATE_REPLICATION_SLOT "backup_${process.pid}" TEMPORARY PHYSICAL (RESERVE_WAL true)`,
    );
    const moment = await receive(client, file);
    file.end();
    await finished(file);
    return moment;
  } finally {
    file.destroy();
    await client.end();
  }
}

const command =
  "BASE_BACKUP (LABEL 'npm run backup', CHECKPOINT 'fast', WAL true, MANIFEST 'no', PROGRESS false)";

/** Resolves with the position where the backup ended. Rejects if the server or the file fails. */
function receive(client: pg.Client, file: WriteStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let last = '';
    let archives = 0;
    let failure: Error | undefined;
    const fail = (error: Error): void => {
      failure ??= error;
      reject(failure);
      // The server would send the rest of a backup that can no longer be written.
      void client.end();
    };
    file.once('error', fail);
    const query = {
      submit: (wire: Wire) => wire.query(command),
      handleRowDescription: () => undefined,
      handleDataRow: ({ fields }: { fields: (Buffer | string | null)[] }) => {
        last = String(fields[0]);
      },
      handleCommandComplete: () => undefined,
      handleCopyData: ({ chunk }: { chunk: Buffer }, wire: Wire) => {
        if (failure !== undefined) return;
        if (chunk[0] === NEW_ARCHIVE && (archives += 1) > 1) {
          fail(new Error('the server has tablespaces of its own, which this backup does not take'));
        }
        // A copy, because the parser of messages uses its memory again before the file has it.
        if (chunk[0] !== DATA || file.write(Buffer.from(chunk.subarray(1)))) return;
        wire.stream.pause();
        // What was read before is still parsed.
        if (file.listenerCount('drain') === 0) file.once('drain', () => wire.stream.resume());
      },
      handleError: (error: Error) => fail(error),
      handleReadyForQuery: () => resolve(last),
    };
    client.query(query as unknown as pg.Submittable);
  });
}
