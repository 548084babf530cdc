import type { Command } from 'commander';
import type { BodyOf, ComparedRun, Experiment, ListedExperiment } from '#client/index.ts';
import { Ending, exitCodes, misuse, refusal } from '#cli/endings.ts';
import { collect, positive, timeOrAgo, wholePositive } from '#cli/input.ts';
import { dollars, type Output, printable } from '#cli/output.ts';
import { idempotencyKey, inSession, type Session } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';
import { terminal } from '#cli/terminal.ts';
import { firstOf } from '#cli/records.ts';

interface StartOptions {
  draft?: true;
  version?: number;
  last: number;
  status?: 'success' | 'failed';
  since?: string;
  run?: string[];
  allow?: string[];
  failures?: 'recorded' | 'execute';
  pins?: true;
  budget?: number;
  csv?: true;
  wait: boolean;
  idempotencyKey?: string;
}

/** Commands that try drafts and versions on past runs. */
export function experimentCommands(program: Command): void {
  program
    .command('experiment')
    .argument('<workflow>', 'id or name')
    .description('try a draft or a version on past runs')
    .option('--draft', "the workflow's draft")
    .option('--version <number>', 'a version', wholePositive)
    .option('--last <number>', 'the newest so many runs', wholePositive, 50)
    .option('--status <status>', 'only those that ended so: success or failed')
    .option('--since <time>', 'only those created since then, as 7d, 12h or ISO 8601', timeOrAgo)
    .option('--run <run>', 'this run instead; may be repeated', collect)
    .option('--allow <name>', 'executed without a record, such as agent; may be repeated', collect)
    .option('--failures <how>', 'recorded (default): a failed step fails again; or execute')
    .option('--pins', 'use the outputs that you have pinned')
    .option('--budget <dollars>', 'what it may spend, with --allow', positive)
    .option('--csv', 'print the runs as CSV')
    .option('--no-wait', 'do not wait for the result')
    .addOption(idempotencyKey())
    .action(inSession<StartOptions>(tryOn));

  const group = program.command('experiments').description('list and read experiments');

  group
    .command('list')
    .argument('<workflow>', 'id or name')
    .description('list the experiments of a workflow, newest first')
    .option('--limit <number>', 'maximum number', wholePositive, 20)
    .action(
      inSession<{ limit: number }>(async ({ client, output }, [reference = ''], { limit }) => {
        const { id } = await findWorkflow(client, reference);
        const query = { limit: Math.min(limit, 200) };
        output.list(await firstOf(client.experiments(id, query), limit), {
          Id: 'id',
          Candidate: (row) => candidateText(row),
          Status: 'status',
          Equal: (row) => row.summary.equal,
          Changed: (row) => row.summary.changed,
          Failed: (row) => row.summary.failed,
          Won: (row) => row.summary.checks.won,
          Lost: (row) => row.summary.checks.lost,
          Created: 'created_at',
        });
      }),
    );

  group
    .command('show')
    .argument('<experiment>')
    .description('show an experiment with its runs, the worst first')
    .option('--csv', 'print the runs as CSV')
    .action(
      inSession<{ csv?: true }>(async (session, [id = ''], { csv }) => {
        await printExperiment(session, id, csv);
      }),
    );

  group
    .command('cancel')
    .argument('<experiment>')
    .description('cancel a running experiment; what is done stays')
    .action(
      inSession(async ({ client, output }, [id = '']) => {
        const cancelled = await client.cancelExperiment(id);
        if (output.format === 'json') return output.record(cancelled);
        output.note(`Cancelled ${id} after ${progressText(cancelled)}`);
      }),
    );
}

const candidateText = ({ candidate }: ListedExperiment): string =>
  candidate === 'draft' ? 'draft' : `version ${candidate.version}`;

const progressText = ({ progress }: ListedExperiment): string =>
  `${progress.done} of ${progress.total ?? '?'} runs`;

function requestOf(options: StartOptions): BodyOf<'POST /api/workflows/{id}/experiments'> {
  const { draft, version, last, status, since, run, allow, failures, pins, budget } = options;
  if ((draft === true) === (version !== undefined)) throw misuse('Give --draft or --version');
  if (run !== undefined && (status !== undefined || since !== undefined)) {
    throw misuse('--run excludes --status and --since');
  }
  return {
    candidate: version === undefined ? 'draft' : { version },
    runs: run ?? {
      last,
      status,
      since,
    },
    allow,
    failures,
    pins,
    budget_usd: budget,
  };
}

async function tryOn(
  session: Session,
  [reference = '']: string[],
  options: StartOptions,
): Promise<void> {
  const { client, output } = session;
  const request = requestOf(options);
  const workflow = await findWorkflow(client, reference);
  const { id, status } = await client.startExperiment(workflow.id, request, {
    idempotencyKey: options.idempotencyKey,
  });
  if (!options.wait) return output.record({ id, status });
  for await (const state of client.experimentStates(id)) showProgress(state);
  endWith(await printExperiment(session, id, options.csv));
}

/** One line on a terminal, which each state replaces. */
function showProgress(state: Experiment): void {
  const { stderr } = terminal();
  if (!stderr.isTTY) return;
  stderr.write(`\r\u001b[K${state.status === 'running' ? progressText(state) : ''}`);
}

async function printExperiment(
  { client, output }: Session,
  id: string,
  csv: true | undefined,
): Promise<Experiment> {
  const experiment = await client.getExperiment(id, { limit: 1 });
  if (csv === true) {
    terminal().stdout.write(await client.experimentCsv(id));
    return experiment;
  }
  const runs = await firstOf(client.experimentRuns(id, { limit: 200 }));
  if (output.format === 'json') output.record({ ...experiment, runs, next_cursor: null });
  else printTables(output, experiment, runs);
  return experiment;
}

function printTables(output: Output, experiment: Experiment, runs: ComparedRun[]): void {
  const { summary, budget_usd: budget, spent_usd: spent } = experiment;
  output.record(experiment, {
    id: experiment.id,
    candidate: candidateText(experiment),
    status: experiment.status,
    error: experiment.error,
    runs: progressText(experiment),
    equal: summary.equal,
    changed: summary.changed,
    failed: summary.failed,
    unrecorded: summary.unrecorded,
    refused: summary.refused,
    checks: `${summary.checks.won} won, ${summary.checks.lost} lost`,
    cost: totalText(summary.cost_usd, dollars),
    duration: totalText(summary.duration_ms, (ms) => `${ms} ms`),
    spent: budget === null ? dollars(spent) : `${dollars(spent)} of ${dollars(budget)}`,
  });
  output.list(runs, {
    Run: 'run_id',
    Rehearsal: 'rehearsal_run_id',
    Outcome: 'outcome',
    Lost: (run) => run.checks.lost.join(', '),
    Won: (run) => run.checks.won.join(', '),
    What: (run) => printable(whatChanged(run)),
  });
}

function totalText(
  { base, candidate, difference }: Experiment['summary']['cost_usd'],
  unit: (amount: number) => string,
): string {
  const sums = `${unit(base)} before, ${unit(candidate)} with the candidate`;
  if (difference === null) return sums;
  const { mean, low, high } = difference;
  return `${sums}; per run ${unit(mean)} (95%: ${unit(low)} to ${unit(high)})`;
}

/** Paths that are printed of one run. */
const MAX_PATHS = 3;

function whatChanged({ reason, diff }: ComparedRun): string {
  if (reason !== null) return reason;
  if (diff === null || diff.differences.length === 0) return '';
  const paths = diff.differences.slice(0, MAX_PATHS).map(({ path }) => path || 'the output');
  const more = diff.differences.length > MAX_PATHS || diff.more;
  return `${paths.join(', ')}${more ? ', …' : ''}`;
}

function endWith({ status, error, summary }: Experiment): void {
  if (status === 'failed') throw refusal(`The experiment failed: ${error ?? ''}`);
  if (status === 'cancelled') throw refusal('The experiment was cancelled');
  const { failed, checks } = summary;
  if (checks.lost > 0 || failed > 0) {
    throw new Ending(exitCodes.refused, `${checks.lost} checks lost, ${failed} runs failed`);
  }
}
