import type { Command } from 'commander';
import type { DevOptions } from '#cli/dev/dev.ts';
import { interruption } from '#cli/interruption.ts';
import { inSession } from '#cli/session.ts';
import { eventsOption, nameOption } from './listen.ts';

export function devCommands(program: Command): void {
  program
    .command('dev')
    .argument('[folder]', 'folder of workflow files', '.')
    .description(
      'apply the workflow files of a folder after each change, until Ctrl-C; starts a service if there is none',
    )
    .option('--publish', 'publish them, too')
    .option('--allow-invalid', 'save graphs that cannot run yet')
    .option('--forward-to <url>', 'forward events there, too, as ops listen does')
    .addOption(eventsOption())
    .addOption(nameOption())
    .action(
      inSession<DevOptions>(async (session, [folder = '.'], options) => {
        const { dev } = await import('#cli/dev/dev.ts');
        await dev(session, folder, options, interruption());
      }),
    );
}
