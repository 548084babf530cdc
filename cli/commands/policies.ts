import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Backtest, BodyOf, Client } from '#client/index.ts';
import { Ending, exitCodes } from '#cli/endings.ts';
import { positive, readJsonObject, timeOrAgo, wholePositive } from '#cli/input.ts';
import type { Output } from '#cli/output.ts';
import { idempotencyKey, inSession, type Session } from '#cli/session.ts';
import { workflowIdOf } from './workflows.ts';
import { firstOf, recordCommand } from '#cli/records.ts';

type NewBacktest = BodyOf<'POST /api/workspace/policies/backtest'>;

interface BacktestOptions {
  file: string;
  since: string;
  workflow?: string;
  wait: boolean;
  waitTimeout: number;
  limit: number;
  idempotencyKey?: string;
}

/** How often a running backtest is read. */
const LOOK_MS = 500;

export function policyCommands(program: Command): void {
  const policies = program.command('policies').description('try policies on history');
  policies
    .command('backtest')
    .description('judge recorded steps by policies that are not in force')
    .requiredOption('-f, --file <file>', 'the policies as JSON; - for standard input')
    .requiredOption(
      '--since <time>',
      'runs created since then, as 7d, 12h, 30m or ISO 8601',
      timeOrAgo,
    )
    .option('--workflow <workflow>', 'only runs of this workflow, by id or name')
    .option('--no-wait', 'return at once')
    .option(
      '--wait-timeout <seconds>',
      'maximum time to wait; the backtest continues',
      positive,
      600,
    )
    .option('--limit <number>', 'maximum number of steps to show', wholePositive, 50)
    .addOption(idempotencyKey())
    .action(inSession<BacktestOptions>(backtest));
  readCommands(policies);
}

function readCommands(policies: Command): void {
  policies
    .command('backtests')
    .description('list backtests, newest first')
    .option('--limit <number>', 'maximum number', wholePositive, 20)
    .action(
      inSession<{ limit: number }>(async ({ client, output }, _args, { limit }) => {
        output.list(await firstOf(client.backtests(), limit), {
          ID: 'id',
          Status: 'status',
          Since: 'since',
          Steps: (row) => row.progress.done,
          Block: (row) => row.summary.would_block,
          Redact: (row) => row.summary.would_redact,
          Allow: (row) => row.summary.would_allow,
          By: 'created_by_name',
          Started: 'created_at',
        });
      }),
    );
  policies
    .command('show-backtest')
    .argument('<backtest>')
    .description('show a backtest with the steps that would be judged differently')
    .option('--limit <number>', 'maximum number of steps to show', wholePositive, 50)
    .action(
      inSession<{ limit: number }>(({ client, output }, [id = ''], { limit }) =>
        show(client, output, { id, limit }),
      ),
    );
  recordCommand(
    policies,
    ['cancel-backtest', 'cancel a running backtest; what it has found is kept'],
    {
      argument: ['backtest'],
      read: (client, id) => client.cancelBacktest(id),
    },
  );
}

async function backtest(
  { client, output }: Session,
  _args: string[],
  given: BacktestOptions,
): Promise<void> {
  const { file, since, workflow, wait, waitTimeout, limit } = given;
  const once = { idempotencyKey: given.idempotencyKey };
  const policies = (await readJsonObject(file)) as unknown as NewBacktest['policies'];
  const body = { policies, since, workflow_id: await workflowIdOf(client, workflow) };
  const started = await client.startBacktest(body, once);
  if (!wait) return output.record(started);
  output.note(`Backtest ${started.id}`);
  const ended = await follow(client, output, { id: started.id, waitTimeout });
  if (ended === undefined) {
    output.note(`It continues: ops policies show-backtest ${started.id}`);
    throw new Ending(exitCodes.waitedTooLong);
  }
  await show(client, output, { id: started.id, limit });
  if (ended.status !== 'done') throw new Ending(exitCodes.refused);
}

/** Waits for the end, and prints the progress in between. Undefined after the timeout. */
async function follow(
  client: Client,
  output: Output,
  { id, waitTimeout }: { id: string; waitTimeout: number },
): Promise<Backtest | undefined> {
  const end = performance.now() + waitTimeout * 1_000;
  let printed = '';
  for (;;) {
    const current = await client.getBacktest(id, { limit: 1 });
    const { done, total } = current.progress;
    const progress = `${done} of ${total ?? '…'} steps`;
    if (progress !== printed) output.note(progress);
    printed = progress;
    if (current.status !== 'running') return current;
    if (performance.now() > end) return undefined;
    await sleep(LOOK_MS);
  }
}

async function show(
  client: Client,
  output: Output,
  { id, limit }: { id: string; limit: number },
): Promise<void> {
  const current = await client.getBacktest(id, { limit: 1 });
  const steps = await firstOf(client.backtestSteps(id, { limit: Math.min(limit, 200) }), limit);
  if (output.format === 'json') return output.record({ ...current, steps, next_cursor: undefined });
  const { judged, would_block, would_redact, would_allow, hidden } = current.summary;
  output.record(current, {
    status: current.status,
    error: current.error,
    since: current.since,
    judged,
    'would block': would_block,
    'would redact': would_redact,
    'would allow': would_allow,
    hidden,
  });
  if (steps.length === 0) return;
  output.list(steps, {
    Run: 'run_id',
    Step: 'step_key',
    Before: 'before',
    After: 'after',
    Reason: 'reason',
  });
  const found = would_block + would_redact + would_allow;
  if (found > steps.length) {
    output.note(`${steps.length} of ${found} such steps; --limit shows more`);
  }
}
