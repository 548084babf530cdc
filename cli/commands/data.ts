import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import type { BodyOf, Client, IngestAnswer } from '#client/index.ts';
import { splitLines } from '#client/lines.ts';
import { Ending, exitCodes, misuse } from '#cli/endings.ts';
import { readJsonObject } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { showCommand } from '#cli/show.ts';
import { dataGroup } from './data-group.ts';
import { terminal } from '#cli/terminal.ts';

/** Size of one batch. A request is limited to 1,000 records and 1 MB. */
const BATCH_RECORDS = 500;
const BATCH_BYTES = 700_000;
const MAX_ERRORS = 100;

const feedOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'feed',
    prefix: 'feed',
    list: () => client.listFeeds(),
    names: ({ name }) => [name],
  });

const sourceOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'source',
    prefix: 'src',
    list: () => client.listSources(),
    names: ({ name }) => [name],
  });

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
  feeds
    .command('list')
    .description('list feeds')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listFeeds(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Status: (row) => row.status,
          Demo: (row) => row.is_demo,
          'Last event': (row) => row.freshness.last_event_at,
        });
      }),
    );
  showCommand(feeds, {
    noun: 'a feed',
    argument: ['feed', 'id or name'],
    read: async (client, feed) => client.getFeed(await feedOf(client, feed)),
  });
  feeds
    .command('create')
    .description('create a feed')
    .requiredOption('-f, --file <file>', 'JSON with name and other fields; - for standard input')
    .action(
      inSession<{ file: string }>(async ({ client, output }, _args, { file }) => {
        const feed = (await readJsonObject(file)) as unknown as BodyOf<'POST /api/data/feeds'>;
        output.record(await client.createFeed(feed));
      }),
    );
  feeds
    .command('delete')
    .argument('<feed>', 'id or name')
    .description('delete a feed and all its records')
    .addOption(ifMatch('feed'))
    .action(
      inSession(async ({ client, output, known }, [feed = '']) => {
        await client.deleteFeed(await feedOf(client, feed), known);
        output.note(`Deleted ${feed}`);
      }),
    );
}

function sourceCommands(data: Command): void {
  const sources = data.command('sources').description('list and manage sources');
  sources
    .command('list')
    .description('list sources and their health')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listSources(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Type: (row) => row.type,
          Health: (row) => row.health.status,
          Failures: (row) => row.health.consecutive_failures,
        });
      }),
    );
  showCommand(sources, {
    noun: 'a source',
    argument: ['source', 'id or name'],
    read: async (client, source) => client.getSource(await sourceOf(client, source)),
  });
  sources
    .command('create')
    .description('create a source')
    .requiredOption(
      '-f, --file <file>',
      'JSON with name, type and other fields; - for standard input',
    )
    .action(
      inSession<{ file: string }>(async ({ client, output }, _args, { file }) => {
        const source = (await readJsonObject(file)) as unknown as BodyOf<'POST /api/data/sources'>;
        output.record(await client.createSource(source));
      }),
    );
  sources
    .command('delete')
    .argument('<source>', 'id or name')
    .description('delete a source')
    .addOption(ifMatch('source'))
    .action(
      inSession(async ({ client, output, known }, [source = '']) => {
        await client.deleteSource(await sourceOf(client, source), known);
        output.note(`Deleted ${source}`);
      }),
    );
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
