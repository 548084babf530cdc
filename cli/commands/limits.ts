import { type Command, InvalidArgumentError, Option } from 'commander';
import type { BodyOf, RunQueue, WorkflowLimits } from '#client/index.ts';
import { wholePositive } from '#cli/input.ts';
import { printable } from '#cli/output.ts';
import { recordCommand } from '#cli/records.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { findWorkflow, workflowIdOf } from './workflows.ts';

type Limits = BodyOf<'PUT /api/workflows/{id}/limits'>;

interface SetOptions {
  concurrency?: number;
  key?: string;
  onLimit?: NonNullable<NonNullable<Limits['concurrency']>['on_limit']>;
  releaseWhilePaused?: true;
  rate?: { limit: number; per_seconds: number };
  rateKey?: string;
  debounce?: { seconds: number; max_seconds?: number };
  debounceKey?: string;
  priority?: string;
  cancelOn?: NonNullable<Limits['cancel_on']>;
}

const RATE = /^(\d+)\/(\d+)s?$/;

function rateOf(text: string): { limit: number; per_seconds: number } {
  const [, limit, seconds] = RATE.exec(text) ?? [];
  if (limit === undefined || seconds === undefined) {
    throw new InvalidArgumentError('Give runs and seconds, such as 100/60.');
  }
  return { limit: Number(limit), per_seconds: Number(seconds) };
}

/** `order.cancelled`, or `order.cancelled: event.data.order == order`. Can be repeated. */
function cancelsOf(text: string, before: NonNullable<Limits['cancel_on']> = []) {
  const colon = text.indexOf(':');
  const event = (colon === -1 ? text : text.slice(0, colon)).trim();
  const match = colon === -1 ? '' : text.slice(colon + 1).trim();
  return [...before, { event, ...(match !== '' && { match }) }];
}

const shownCancels = ({ cancel_on }: WorkflowLimits): string =>
  cancel_on.map(({ event, match }) => (match === null ? event : `${event}: ${match}`)).join('; ');

const DEBOUNCE = /^(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?$/;

function debounceOf(text: string): { seconds: number; max_seconds?: number } {
  const [, seconds, most] = DEBOUNCE.exec(text) ?? [];
  if (seconds === undefined) {
    throw new InvalidArgumentError('Give seconds, and how many at most, such as 5/60.');
  }
  return { seconds: Number(seconds), ...(most !== undefined && { max_seconds: Number(most) }) };
}

/** Without options for a limit, there is none. */
function bodyOf({
  concurrency,
  key,
  onLimit,
  releaseWhilePaused,
  rate,
  rateKey,
  debounce,
  debounceKey,
  priority,
  cancelOn,
}: SetOptions): Limits {
  return {
    ...(concurrency !== undefined && {
      concurrency: {
        ...{ limit: concurrency, key, on_limit: onLimit },
        ...(releaseWhilePaused && { hold_while_paused: false }),
      },
    }),
    ...(rate !== undefined && { rate: { ...rate, key: rateKey } }),
    ...(debounce !== undefined && { debounce: { ...debounce, key: debounceKey } }),
    ...(priority !== undefined && { priority }),
    ...(cancelOn !== undefined && { cancel_on: cancelOn }),
  };
}

/** The fields of a table: one row per limit. */
function shown(limits: WorkflowLimits): Record<string, unknown> {
  const {
    concurrency,
    rate,
    debounce,
    priority,
    warnings,
    last_failed_match: failed,
    etag,
  } = limits;
  return {
    concurrency: concurrency?.limit,
    key: concurrency?.key,
    on_limit: concurrency?.on_limit,
    hold_while_paused: concurrency?.hold_while_paused,
    rate: rate === null ? undefined : `${rate.limit}/${rate.per_seconds}`,
    rate_key: rate?.key,
    debounce: debounce?.seconds,
    debounce_max: debounce?.max_seconds,
    debounce_key: debounce?.key,
    priority,
    cancel_on: shownCancels(limits),
    failed_match: failed === null ? undefined : printable(`${failed.event_id}: ${failed.reason}`),
    warnings: warnings.join('; '),
    etag,
  };
}

export function limitCommands(program: Command): void {
  queueCommand(program);
  const limits = program
    .command('limits')
    .description('limit how many runs of a workflow are in flight at a time');

  recordCommand(limits, ['get', 'show the limits of a workflow'], {
    argument: ['workflow', 'id or name'],
    read: async (client, workflow) => client.getLimits((await findWorkflow(client, workflow)).id),
    fields: shown,
  });

  limits
    .command('set')
    .argument('<workflow>', 'id or name')
    .description('replace the limits of a workflow; without options, it has none')
    .option('--concurrency <number>', 'runs in flight at a time', wholePositive)
    .option('--key <template>', 'over the input, such as {customer}: a limit for each value')
    .addOption(
      new Option('--on-limit <mode>', 'what happens to further runs; default queue').choices([
        'queue',
        'reject',
        'skip',
        'cancel_running',
      ]),
    )
    .option('--release-while-paused', 'a run that waits for a person gives up its slot')
    .option('--rate <runs/seconds>', 'starts within any so many seconds, such as 100/60', rateOf)
    .option('--rate-key <template>', 'over the input: a rate for each value')
    .option(
      '--debounce <seconds/most>',
      'triggers within so many seconds share a run, at most that long, such as 5/60',
      debounceOf,
    )
    .option('--debounce-key <template>', 'over the input: a run for each value')
    .option('--priority <expression>', 'over the input: the highest of -100 to 100 starts first')
    .option(
      '--cancel-on <event: match>',
      'an event that cancels open runs, and an expression over event and the input; can be repeated',
      cancelsOf,
    )
    .addOption(ifMatch('limits'))
    .action(
      inSession<SetOptions>(async ({ client, output, known }, [workflow = ''], options) => {
        const { id } = await findWorkflow(client, workflow);
        const answer = await client.setLimits(id, bodyOf(options), known);
        output.record(answer, shown(answer));
      }),
    );
}

/** `ops queues`: a row per run. */
function queueCommand(program: Command): void {
  program
    .command('queues')
    .description('list who holds the slots of the limits of workflows, and who waits, in order')
    .option('--workflow <workflow>', 'only of this workflow, by id or name')
    .action(
      inSession<{ workflow?: string }>(async ({ client, output }, _args, { workflow }) => {
        const workflow_id = await workflowIdOf(client, workflow);
        const queues = await client.listQueues({ workflow_id });
        output.list(queues.flatMap(runsOf), {
          Workflow: 'workflow_name',
          Key: 'key',
          Place: 'place',
          Run: 'run_id',
          Status: 'status',
          Since: 'since',
          Until: 'until',
        });
      }),
    );
}

const runsOf = ({ workflow_name, key, in_flight, waiting }: RunQueue) => [
  ...in_flight.map((run) => ({ workflow_name, key, place: 'in flight', ...run, until: null })),
  ...waiting.map((run) => ({
    ...{ workflow_name, key, ...run },
    place: run.deadlocked ? `${run.position}, deadlock` : run.position,
  })),
];
