import { type Command, Option } from 'commander';
import type { ApplyOptions } from '#cli/files/apply.ts';
import type { PullOptions } from '#cli/files/pull.ts';
import { collect } from '#cli/input.ts';
import { inSession } from '#cli/session.ts';

// The code that reads and checks files is only loaded by these commands, because it would slow down the start of all
// others.

/** `ops apply`, also available as `ops workflows apply`. */
export function applyCommand(parent: Command): void {
  parent
    .command('apply')
    .description('create and update workflows from files, matched by name')
    .requiredOption(
      '-f, --file <path>',
      'a YAML or JSON file, a folder of such files, or - for standard input; may be repeated',
      collect,
    )
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--publish', 'publish them, too')
    .option('--allow-invalid', 'save graphs that cannot run yet')
    .action(
      inSession<ApplyOptions>(async (session, _args, options) => {
        const { applyFiles } = await import('#cli/files/apply.ts');
        await applyFiles(session, options);
      }),
    );
}

export function fileCommands(program: Command): void {
  program
    .command('pull')
    .argument('[workflows...]', 'ids or names; all without any')
    .description('write workflows to files, one each')
    .option('-d, --folder <folder>', 'where the files are', '.')
    .addOption(
      new Option('--format <format>', 'format of new files')
        .choices(['yaml', 'json'])
        .default('yaml'),
    )
    .option('--prune', 'delete the files of workflows that the workspace does not have')
    .action(
      inSession<PullOptions>(async (session, names, options) => {
        const { pullFiles } = await import('#cli/files/pull.ts');
        await pullFiles(session, names, options);
      }),
    );
  applyCommand(program);
}
