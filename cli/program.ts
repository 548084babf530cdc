import { Command, Option } from 'commander';
import { alertCommands } from './commands/alerts.ts';
import { auditCommands } from './commands/audit.ts';
import { evidenceCommands } from './commands/evidence.ts';
import { dataKeyCommands } from './commands/data-keys.ts';
import { dataCommands } from './commands/data.ts';
import { draftCommands } from './commands/drafts.ts';
import { experimentCommands } from './commands/experiments.ts';
import { inboundEventCommands } from './commands/inbound-events.ts';
import { inboundWebhookCommands } from './commands/inbound-webhook.ts';
import { fileCommands } from './commands/files.ts';
import { devCommands } from './commands/dev.ts';
import { moneyCommands } from './commands/money.ts';
import { authorizationCommands } from './commands/authorizations.ts';
import { slackCommands } from './commands/slack.ts';
import { peopleCommands } from './commands/people.ts';
import { forkCommands } from './commands/forks.ts';
import { nodeTestCommands } from './commands/node-tests.ts';
import { policyCommands } from './commands/policies.ts';
import { runCommands } from './commands/runs.ts';
import { scheduleCommands } from './commands/schedules.ts';
import { signInCommands } from './commands/sign-in.ts';
import { eventCommands } from './commands/events.ts';
import { limitCommands } from './commands/limits.ts';
import { listenCommands } from './commands/listen.ts';
import { triggerCommands } from './commands/triggers.ts';
import { connectionCommands } from './commands/connections.ts';
import { secretCommands } from './commands/secrets.ts';
import { toolCommands } from './commands/tools.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { workflowCommands } from './commands/workflows.ts';
import { completionCommands } from './completion.ts';
import { positive } from './input.ts';
import { terminal } from './terminal.ts';

const endings = `
Exit codes: 0 success; 1 refused, or a check failed; 2 wrong usage; 3 service unreachable; 4 the run failed;
5 wait timeout; 6 the run waits for a decision.

OPS_API_URL, OPS_API_KEY, OPS_TOKEN and OPS_PROFILE override what ops login stored.`;

/** The `ops` program with all commands. */
export function createProgram(): Command {
  const program = new Command('ops')
    .description('Workflows, runs and the workspace around them, from a terminal')
    .option('--url <url>', 'address of the service')
    .option('--profile <name>', 'stored profile to use')
    .option('--timeout <seconds>', 'request timeout', positive)
    .addOption(
      new Option('-o, --output <format>', 'output format')
        .choices(['table', 'json'])
        .default('table'),
    )
    .option('--json', 'the same as --output json')
    .addHelpText('after', endings)
    .showHelpAfterError('(see ops --help)')
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => terminal().stdout.write(text),
      writeErr: (text) => terminal().stderr.write(text),
    })
    .exitOverride();
  const groups = [
    signInCommands,
    workflowCommands,
    draftCommands,
    fileCommands,
    runCommands,
    forkCommands,
    experimentCommands,
    nodeTestCommands,
    moneyCommands,
    peopleCommands,
    authorizationCommands,
    slackCommands,
    dataKeyCommands,
    scheduleCommands,
    toolCommands,
    eventCommands,
    limitCommands,
    triggerCommands,
    secretCommands,
    connectionCommands,
    dataCommands,
    alertCommands,
    webhookCommands,
    listenCommands,
    devCommands,
    inboundWebhookCommands,
    inboundEventCommands,
    policyCommands,
    auditCommands,
    evidenceCommands,
    completionCommands,
  ];
  for (const add of groups) add(program);
  return program;
}
