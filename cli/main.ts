#!/usr/bin/env node
import { CommanderError } from 'commander';
import { endingOf, exitCodes } from './endings.ts';
import { printable } from './output.ts';
import { createProgram } from './program.ts';

/** `ops`: see docs/cli.md. */
async function main(args: string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    // Commander has printed the error. Help and similar output is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const { message, code } = endingOf(error);
    if (message !== '') process.stderr.write(`ops: ${printable(message)}\n`);
    return code;
  }
}

// A reader that stops early (head, less) is not an error.
process.stdout.on('error', () => process.exit(exitCodes.ok));
process.once('SIGINT', () => process.exit(exitCodes.interrupted));
process.exitCode = await main(process.argv.slice(2));
