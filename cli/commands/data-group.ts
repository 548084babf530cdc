import type { Command } from 'commander';

/** `ops data`; several files add its commands. */
export const dataGroup = (program: Command): Command =>
  program.commands.find((command) => command.name() === 'data') ??
  program.command('data').description('manage the data API: feeds, sources and keys');
