#!/usr/bin/env node
import { exitCodes } from './endings.ts';
import { endOnInterrupt } from './interruption.ts';
import { runCommand } from './run-command.ts';

// A reader that stops early (head, less) is not an error.
process.stdout.on('error', () => process.exit(exitCodes.ok));
endOnInterrupt();
process.exitCode = await runCommand(process.argv.slice(2));
