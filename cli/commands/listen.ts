import { type Command, Option } from 'commander';
import { timeOrAgo } from '#cli/input.ts';
import { interruption } from '#cli/interruption.ts';
import type { ListenOptions } from '#cli/listen/listen.ts';
import { inSession } from '#cli/session.ts';

// The code that reads and forwards events is only loaded by this command, as that of files.

/** The options that say what is forwarded, for `ops listen` and `ops dev`. */
export const eventsOption = (): Option =>
  new Option('--events <patterns>', 'only these, such as run.*,approval.requested');
export const nameOption = (): Option =>
  new Option('--name <name>', 'name of the listener; by default, of this machine');

export function listenCommands(program: Command): void {
  program
    .command('listen')
    .description('forward events to a local address, without a public URL, until Ctrl-C')
    .requiredOption('--forward-to <url>', 'where to, such as http://localhost:3000/hook')
    .addOption(eventsOption())
    .addOption(
      new Option(
        '--endpoint <webhook>',
        'the events of this endpoint, by id or URL; it receives them, too',
      ).conflicts(['name', 'demo']),
    )
    .addOption(nameOption())
    .option('--demo', 'events of demo records instead of live ones')
    .option('--since <time>', 'also earlier events, as 10m, 12h or ISO 8601', timeOrAgo)
    .addOption(
      new Option('--replay <event>', 'forward this event again, and exit').conflicts([
        'events',
        'since',
      ]),
    )
    .action(
      inSession<ListenOptions>(async (session, _args, options) => {
        const { listen } = await import('#cli/listen/listen.ts');
        await listen(session, options, interruption());
      }),
    );
}
