import { Command, Option } from 'commander';
import { alertCommands } from './commands/alerts.ts';
import { auditCommands } from './commands/audit.ts';
import { dataKeyCommands } from './commands/data-keys.ts';
import { dataCommands } from './commands/data.ts';
import { moneyCommands } from './commands/money.ts';
import { peopleCommands } from './commands/people.ts';
import { runCommands } from './commands/runs.ts';
import { scheduleCommands } from './commands/schedules.ts';
import { signInCommands } from './commands/sign-in.ts';
import { toolCommands } from './commands/tools.ts';
import { workflowCommands } from './commands/workflows.ts';
import { completionCommands } from './completion.ts';
import { positive } from './input.ts';

const endings = `
Exit codes: 0 done; 1 refused, or not so; 2 wrong usage; 3 the service is not reached; 4 the run failed;
5 waiting took too long; 6 the run waits for a decision.

OPS_API_URL, OPS_API_KEY, OPS_TOKEN and OPS_PROFILE stand over what ops login stored.`;

/** The whole command, to be parsed. */
export function createProgram(): Command {
  const program = new Command('ops')
    .description('Workflows, runs and the workspace around them, from a terminal')
    .option('--url <url>', 'where the service is')
    .option('--profile <name>', 'which stored profile to use')
    .option('--timeout <seconds>', 'how long a request may take', positive)
    .addOption(
      new Option('-o, --output <format>', 'how to print')
        .choices(['table', 'json'])
        .default('table'),
    )
    .addHelpText('after', endings)
    .showHelpAfterError('(ops --help tells more)')
    .helpCommand(false)
    .exitOverride();
  const groups = [
    signInCommands,
    workflowCommands,
    runCommands,
    moneyCommands,
    peopleCommands,
    dataKeyCommands,
    scheduleCommands,
    toolCommands,
    dataCommands,
    alertCommands,
    auditCommands,
    completionCommands,
  ];
  for (const add of groups) add(program);
  return program;
}
