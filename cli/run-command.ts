import { CommanderError } from 'commander';
import { endingOf, exitCodes } from './endings.ts';
import { printable } from './output.ts';
import { createProgram } from './program.ts';
import { terminal } from './terminal.ts';

/** Runs `ops` with these arguments; see docs/cli.md. Returns its exit code. */
export async function runCommand(args: string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    // Commander has printed the error. Help and similar output is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const { message, code } = endingOf(error);
    if (message !== '') terminal().stderr.write(`ops: ${printable(message)}\n`);
    return code;
  }
}
