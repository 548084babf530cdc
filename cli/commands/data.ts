import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import type { Client, IngestAnswer } from '#client/index.ts';
import { splitLines } from '#client/lines.ts';
import { Ending, exitCodes, misuse } from '#cli/endings.ts';
import { idOf } from '#cli/references.ts';
import { inSession } from '#cli/session.ts';
import { dataGroup } from './data-group.ts';
import { terminal } from '#cli/terminal.ts';
import { createCommand, listCommand, recordCommand, removeCommand } from '#cli/records.ts';

/** Size of one batch. A request is limited to 1,000 records and 1 MB. */
const BATCH_RECORDS = 500;
const BATCH_BYTES = 700_000;
const MAX_ERRORS = 100;

const feedOf = idOf({ noun: 'feed', prefix: 'feed', list: (client) => client.listFeeds() });

const sourceOf = idOf({ noun: 'source', prefix: 'src', list: (client) => client.listSources() });

export function dataCommands(program: Command): void {
  const data = dataGroup(program);
  feedCommands(data);
  sourceCommands(data);

  data
    .command('ingest')
    .argument('[file]', 'NDJSON, one record or event per line; - for standard input', '-')
    .requiredOption('--feed <feed>', 'the feed for the records, by id or name')
    .description('send records to a feed; code 1 when some were refused')
    .action(
      inSession<{ feed: string }>(async ({ client, output }, [file = '-'], { feed }) => {
        const answer = await sendLines(client, await feedOf(client, feed), linesOf(file));
        output.record(answer);
        if (answer.refused > 0) throw new Ending(exitCodes.refused);
      }),
    );
}

function feedCommands(data: Command): void {
  const feeds = data.command('feeds').description('list and manage feeds');
  listCommand(feeds, 'list feeds', {
    rows: (client) => client.listFeeds(),
    columns: {
      Id: 'id',
      Name: 'name',
      Status: 'status',
      Demo: 'is_demo',
      'Last event': (row) => row.freshness.last_event_at,
    },
  });
  recordCommand(feeds, ['show', 'show a feed'], {
    argument: ['feed', 'id or name'],
    read: async (client, feed) => client.getFeed(await feedOf(client, feed)),
  });
  createCommand(feeds, ['create', 'create a feed'], {
    file: 'JSON with name and other fields; - for standard input',
    create: (client, feed) => client.createFeed(feed),
  });
  removeCommand(feeds, ['delete', 'delete a feed and all its records'], {
    argument: ['feed', 'id or name'],
    remove: async (client, feed, known) => client.deleteFeed(await feedOf(client, feed), known),
  });
}

function sourceCommands(data: Command): void {
  const sources = data.command('sources').description('list and manage sources');
  listCommand(sources, 'list sources and their health', {
    rows: (client) => client.listSources(),
    columns: {
      Id: 'id',
      Name: 'name',
      Type: 'type',
      Health: (row) => row.health.status,
      Failures: (row) => row.health.consecutive_failures,
    },
  });
  recordCommand(sources, ['show', 'show a source'], {
    argument: ['source', 'id or name'],
    read: async (client, source) => client.getSource(await sourceOf(client, source)),
  });
  createCommand(sources, ['create', 'create a source'], {
    file: 'JSON with name, type and other fields; - for standard input',
    create: (client, source) => client.createSource(source),
  });
  removeCommand(sources, ['delete', 'delete a source'], {
    argument: ['source', 'id or name'],
    remove: async (client, source, known) =>
      client.deleteSource(await sourceOf(client, source), known),
  });
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const input = file === '-' ? terminal().stdin : createReadStream(file);
  const failed = new Promise<never>((_resolve, reject) => {
    input.once('error', (error: Error) =>
      reject(misuse(`${file} cannot be read: ${error.message}`)),
    );
  });
  failed.catch(() => undefined);
  const lines = splitLines(input);
  for (;;) {
    const { done, value } = await Promise.race([lines.next(), failed]);
    if (done === true) return;
    yield value as string;
  }
}

/** Sends the lines in batches, reports its progress on stderr, and adds up the results. */
async function sendLines(
  client: Client,
  feedId: string,
  lines: AsyncIterable<string>,
): Promise<IngestAnswer> {
  const total: IngestAnswer = {
    created: 0,
    updated: 0,
    unchanged: 0,
    refused: 0,
    errors: [],
    events: { created: 0, updated: 0, unchanged: 0 },
  };
  let batch: { line: number; record: unknown }[] = [];
  let bytes = 0;
  let line = 0;
  const refuse = (error: IngestAnswer['errors'][number]): void => {
    total.refused += 1;
    if (total.errors.length < MAX_ERRORS) total.errors.push(error);
  };
  const flush = async (): Promise<void> => {
    const sent = batch;
    batch = [];
    bytes = 0;
    const answer = await client.ingest(
      feedId,
      sent.map(({ record }) => record),
    );
    addCounts(total, answer);
    addCounts(total.events, answer.events);
    for (const { line: at, reason } of answer.errors) {
      refuse({ line: sent[at - 1]?.line ?? at, reason });
    }
    // A response with many errors lists only some of them.
    total.refused += answer.refused - answer.errors.length;
    terminal().stderr.write(`${line} lines sent, ${total.refused} refused\n`);
  };
  for await (const text of lines) {
    line += 1;
    if (text.trim() === '') continue;
    const size = Buffer.byteLength(text);
    if (batch.length === BATCH_RECORDS || (bytes + size > BATCH_BYTES && batch.length > 0)) {
      await flush();
    }
    const read = readRecord(text);
    if ('reason' in read) {
      refuse({ line, reason: read.reason });
      continue;
    }
    bytes += size;
    batch.push({ line, record: read.record });
  }
  if (batch.length > 0) await flush();
  total.errors.sort((a, b) => a.line - b.line);
  return total;
}

/** Parses a line as a record. A number that the service cannot store would fail the whole batch. */
function readRecord(text: string): { record: unknown } | { reason: string } {
  // Set by the callback, which the compiler does not see.
  let isExact = true as boolean;
  let record: unknown;
  try {
    record = JSON.parse(text, (_key, value, { source = '' }) => {
      const holds = /[.eE]/.test(source) ? Number.isFinite : Number.isSafeInteger;
      if (typeof value === 'number' && !holds(value)) isExact = false;
      return value;
    });
  } catch {
    return { reason: 'is not JSON' };
  }
  return isExact
    ? { record }
    : {
        reason:
          'contains an integer beyond ±9007199254740991 or a number too large; send it as a string',
      };
}

type Counts = IngestAnswer['events'];

function addCounts(to: Counts, more: Counts): void {
  to.created += more.created;
  to.updated += more.updated;
  to.unchanged += more.unchanged;
}
