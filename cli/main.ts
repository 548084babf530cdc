#!/usr/bin/env node
import { exitCodes } from './endings.ts';
import { runCommand } from './run-command.ts';

// A reader that stops early (head, less) is not an error.
process.stdout.on('error', () => process.exit(exitCodes.ok));
process.once('SIGINT', () => process.exit(exitCodes.interrupted));
process.exitCode = await runCommand(process.argv.slice(2));
