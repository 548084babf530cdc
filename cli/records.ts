import type { Command } from 'commander';
import type { Client, TriggerOptions, WriteOptions } from '#client/index.ts';
import { readJsonObject } from './input.ts';
import type { Columns } from './output.ts';
import { idempotencyKey, ifMatch, inSession } from './session.ts';

/** The name of an argument, and how people can name the record. */
type Argument = [name: string, forms?: string];

/** Adds `list` to a group: a row for each record. */
export function listCommand<Row extends object>(
  group: Command,
  description: string,
  { rows, columns }: { rows: (client: Client) => Promise<readonly Row[]>; columns: Columns<Row> },
): void {
  group
    .command('list')
    .description(description)
    .action(inSession(async ({ client, output }) => output.list(await rows(client), columns)));
}

interface Answered<Answer extends object> {
  argument?: Argument;
  read: (client: Client, reference: string) => Promise<Answer>;
  /** What a table shows; by default every field, such as the etag for `--if-match`. */
  fields?: (answer: Answer) => Record<string, unknown>;
}

/** Adds a command that prints what one request answers. */
export function recordCommand<Answer extends object>(
  group: Command,
  [verb, description]: [verb: string, description: string],
  { argument, read, fields }: Answered<Answer>,
): void {
  const command = group.command(verb).description(description);
  if (argument !== undefined) command.argument(`<${argument[0]}>`, argument[1]);
  command.action(
    inSession(async ({ client, output }, [reference = '']) => {
      const answer = await read(client, reference);
      output.record(answer, fields?.(answer));
    }),
  );
}

interface Once<Answer extends object> extends Omit<Answered<Answer>, 'argument' | 'read'> {
  argument: Argument;
  act: (client: Client, reference: string, once: TriggerOptions) => Promise<Answer>;
}

/** Adds a command that acts on a record, once per `--idempotency-key`, and shows the answer. */
export function onceCommand<Answer extends object>(
  group: Command,
  [verb, description]: [verb: string, description: string],
  { argument, act, fields }: Once<Answer>,
): void {
  group
    .command(verb)
    .argument(`<${argument[0]}>`, argument[1])
    .description(description)
    .addOption(idempotencyKey())
    .action(
      inSession<{ idempotencyKey?: string }>(
        async ({ client, output }, [reference = ''], { idempotencyKey: key }) => {
          const once = key === undefined ? {} : { idempotencyKey: key };
          const answer = await act(client, reference, once);
          output.record(answer, fields?.(answer));
        },
      ),
    );
}

/** Adds a command that creates a record from a JSON file. */
export function createCommand(
  group: Command,
  [verb, description]: [verb: string, description: string],
  { file, create }: { file: string; create: (client: Client, body: never) => Promise<object> },
): void {
  group
    .command(verb)
    .description(description)
    // Its fields may contain credentials, which must not be process arguments.
    .requiredOption('-f, --file <file>', file)
    .action(
      inSession<{ file: string }>(async ({ client, output }, _args, options) => {
        // The service validates the fields.
        output.record(await create(client, (await readJsonObject(options.file)) as never));
      }),
    );
}

interface Removal {
  argument: Argument;
  /** As `--if-match` names the record; by default as the argument does. */
  noun?: string;
  remove: (client: Client, reference: string, known: WriteOptions) => Promise<unknown>;
}

/** Adds `delete`, or another such word, to a group. */
export function removeCommand(
  group: Command,
  [verb, description]: ['delete' | 'remove' | 'revoke', description: string],
  { argument: [name, forms], noun = name, remove }: Removal,
): void {
  group
    .command(verb)
    .argument(`<${name}>`, forms)
    .description(description)
    .addOption(ifMatch(noun))
    .action(
      inSession(async ({ client, output, known }, [reference = '']) => {
        await remove(client, reference, known);
        output.note(`${verb.charAt(0).toUpperCase()}${verb.slice(1)}d ${reference}`);
      }),
    );
}

/** The rows of a list that is read page by page, up to a maximum number. */
export async function firstOf<Row>(rows: AsyncIterable<Row>, limit = Infinity): Promise<Row[]> {
  const first: Row[] = [];
  for await (const row of rows) if (first.push(row) === limit) break;
  return first;
}
