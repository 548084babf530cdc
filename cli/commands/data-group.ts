import type { Command } from 'commander';

/** `ops data`, which several files have commands of. */
export const dataGroup = (program: Command): Command =>
  program.commands.find((command) => command.name() === 'data') ??
  program.command('data').description('see and change what the data API serves, and to whom');
