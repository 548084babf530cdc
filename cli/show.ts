import type { Command } from 'commander';
import type { Client } from '#client/index.ts';
import { inSession } from './session.ts';

/** How a group shows one of its records. */
interface Shown {
  noun: string;
  /** The argument, and how people can refer to the record. */
  argument: [name: string, forms: string];
  read: (client: Client, reference: string) => Promise<object>;
}

/** Adds `show` to a group: all fields of one record, with the etag for `--if-match`. */
export function showCommand(group: Command, { noun, argument: [name, forms], read }: Shown): void {
  group
    .command('show')
    .argument(`<${name}>`, forms)
    .description(`show ${noun}`)
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        output.record(await read(client, reference));
      }),
    );
}
