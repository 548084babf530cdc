import type { Command } from 'commander';
import type { Fork } from '#client/index.ts';
import { misuse } from '#cli/endings.ts';
import { collect, readInputIf, requireOneVersion, wholePositive } from '#cli/input.ts';
import { inSession, type Session } from '#cli/session.ts';
import { followOptions, followStarted, type FollowOptions } from './runs.ts';

interface AgainOptions extends FollowOptions {
  input?: string[];
  version?: number;
  draft?: true;
  recorded?: true;
  allow?: string[];
  executeFailures?: true;
  decisions?: string[];
  pins?: true;
  idempotencyKey?: string;
}

interface ForkOptions extends AgainOptions {
  from: string;
  state?: string[];
}

/** Commands that start a run from another run. */
export function forkCommands(program: Command): void {
  const rerun = program
    .command('rerun')
    .argument('<run>')
    .description('run again, with the same input and version or with others');
  options(rerun).action(inSession<AgainOptions>(rerunRun));

  const fork = program
    .command('fork')
    .argument('<run>')
    .description('run again from a step, and reuse what was finished before')
    .requiredOption('--from <step>', 'the key of the step, from ops runs show')
    .option('--state <state>', 'laid over the state there; as --input of ops run', collect);
  options(fork).action(inSession<ForkOptions>(forkRun));
}

const options = (command: Command): Command =>
  followOptions(
    command
      .option('-i, --input <input>', 'another input; as in ops run', collect)
      .option('--version <number>', 'another version', wholePositive)
      .option('--draft', "the workflow's draft")
      .option('--recorded', 'rehearse: take results from the record, and have no effect')
      .option(
        '--allow <name>',
        'what a rehearsal executes without a record: agent, custom:<name>, http_request:GET ...',
        collect,
      )
      .option('--execute-failures', 'in a rehearsal, execute what had failed, if it is allowed')
      .option(
        '--decisions <decisions>',
        'of a rehearsal, by gate: ok={"approved": true}; as --input',
        collect,
      )
      .option('--pins', 'in a rehearsal, use the outputs that you have pinned'),
  ).option('--idempotency-key <key>', 'used twice with the same request, it starts one run');

async function givenBy(given: AgainOptions) {
  const { input, version, draft, idempotencyKey } = given;
  requireOneVersion(given);
  return {
    input: await readInputIf(input),
    version,
    draft,
    ...(await rehearsalBy(given)),
    idempotencyKey,
  };
}

async function rehearsalBy({ recorded, allow, executeFailures, decisions, pins }: AgainOptions) {
  const others = [allow, executeFailures, decisions, pins];
  if (recorded !== true && others.some((value) => value !== undefined)) {
    throw misuse('--allow, --execute-failures, --decisions and --pins need --recorded');
  }
  return {
    mode: recorded && ('recorded' as const),
    allow,
    pins,
    failures: executeFailures && ('execute' as const),
    decisions: (await readInputIf(decisions)) as Record<string, { approved: boolean }> | undefined,
  };
}

async function rerunRun(
  session: Session,
  [runId = '']: string[],
  given: AgainOptions,
): Promise<void> {
  const run = await session.client.rerun(runId, await givenBy(given));
  await followAgain(session, run, given);
}

async function followAgain(session: Session, run: Fork, given: AgainOptions): Promise<void> {
  const ending = run.mode === 'recorded' ? 'is not reused at the start' : 'is executed again';
  for (const { step_key, reason } of run.not_reused) {
    session.output.note(`Step ${step_key} ${ending}: ${reason}`);
  }
  await followStarted(session, run, given);
}

async function forkRun(
  session: Session,
  [runId = '']: string[],
  given: ForkOptions,
): Promise<void> {
  const state = await readInputIf(given.state);
  const run = await session.client.fork(runId, given.from, { ...(await givenBy(given)), state });
  await followAgain(session, run, given);
}
