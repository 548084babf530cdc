import { type Command, Option } from 'commander';
import type { Client, Run, RunQuery, RunSummary } from '#client/index.ts';
import { wholePositive } from '#cli/input.ts';
import { costOf } from '#cli/output.ts';
import { misuse } from '#cli/endings.ts';
import { inSession } from '#cli/session.ts';
import { workflowIdOf } from './workflows.ts';
import { terminal } from '#cli/terminal.ts';
import { firstOf } from '#cli/records.ts';

interface FilterOptions {
  view?: string;
  search?: string;
  workflow?: string;
  version?: number;
  status?: string;
  failure?: RunQuery['failure_kind'];
  trigger?: Run['trigger'];
  parent?: string;
  forkedFrom?: string;
  mode?: 'live' | 'recorded';
  since?: string;
  until?: string;
  minCost?: number;
  maxCost?: number;
  minDuration?: number;
  maxDuration?: number;
}

interface ListOptions extends FilterOptions {
  limit: number;
}

/** The maximum number of rows in a page of the API. */
const MAX_PAGE = 200;

const listColumns = {
  Id: (row: RunSummary) => row.id,
  Workflow: (row: RunSummary) => row.workflow_name,
  Version: (row: RunSummary) => row.workflow_version,
  Status: (row: RunSummary) => row.status,
  Trigger: (row: RunSummary) => row.trigger,
  Cost: (row: RunSummary) => costOf(row),
  Created: (row: RunSummary) => row.created_at,
};

/** `ops runs list` and `ops runs export`. The service validates the values, and reports which one is wrong. */
export function listCommands(runs: Command): void {
  filterOptions(runs.command('list').description('list runs, newest first'))
    .option('--limit <number>', 'maximum number', wholePositive, 20)
    .action(
      inSession<ListOptions>(async ({ client, output }, _args, { limit, ...flags }) => {
        const query = await queryOf(client, flags);
        output.list(
          await firstOf(client.runs({ ...query, limit: Math.min(limit, MAX_PAGE) }), limit),
          listColumns,
        );
      }),
    );

  filterOptions(runs.command('export').description('print all runs that match, newest first'))
    .addOption(
      new Option('--format <format>', 'csv, or ndjson: one JSON object per line')
        .choices(['csv', 'ndjson'])
        .default('csv'),
    )
    .action(
      inSession<FilterOptions & { format: 'csv' | 'ndjson' }>(
        async ({ client }, _args, { format, ...flags }) => {
          terminal().stdout.write(await client.exportRuns(await queryOf(client, flags), format));
        },
      ),
    );
}

/** `ops runs views`. */
export function viewCommands(runs: Command): void {
  const views = runs.command('views').description('your saved filters of the list of runs');

  views
    .command('list', { isDefault: true })
    .description('list them, by name')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listRunViews(), {
          Name: 'name',
          Filter: 'filter',
          Saved: 'saved_at',
        });
      }),
    );

  views
    .command('save')
    .argument('<name>')
    .argument('<filter>', 'the query of GET /api/runs, such as status=failed&min_cost_usd=2')
    .description('save filters under a name, instead of the view with this name')
    .action(
      inSession(async ({ client, output }, [name = '', filter = '']) => {
        output.record(await client.saveRunView(name, filter));
      }),
    );

  views
    .command('remove')
    .argument('<name>')
    .description('remove a view')
    .action(
      inSession(async ({ client, output }, [name = '']) => {
        await client.removeRunView(name);
        output.note(`Removed view ${name}`);
      }),
    );
}

const filterOptions = (command: Command): Command =>
  command
    .option('--view <name>', 'with the filters of this saved view; see ops runs views')
    .option('--search <words>', 'with these words in id, input, output or error')
    .option('--workflow <workflow>', 'of this workflow, by id or name')
    .option('--version <number>', 'of this version')
    .option(
      '--status <statuses>',
      'pending, running, paused, success or failed; or several: failed,paused',
    )
    .option('--failure <kind>', 'node, budget, cancelled, rejected, crash or unrecorded')
    .option('--trigger <trigger>', 'manual, webhook, mcp, schedule or workflow')
    .option('--parent <run>', 'started by this run')
    .option('--forked-from <run>', 'started from this run again')
    .option('--mode <mode>', 'live: no rehearsals; recorded: only these')
    .option('--since <time>', 'created at or after, such as 2026-11-01')
    .option('--until <time>', 'created before')
    .option('--min-cost <dollars>', 'that cost at least this')
    .option('--max-cost <dollars>', 'that cost at most this')
    .option('--min-duration <ms>', 'active for at least this')
    .option('--max-duration <ms>', 'active for at most this');

type Filters = Omit<RunQuery, 'cursor' | 'limit'>;

/** The filters of a saved view, overridden by the options given with it. */
async function queryOf(client: Client, { view, ...flags }: FilterOptions): Promise<Filters> {
  const given = await givenFilters(client, flags);
  return view === undefined ? given : { ...(await viewNamed(client, view)), ...given };
}

async function viewNamed(client: Client, name: string): Promise<Filters> {
  const found = (await client.listRunViews()).find((view) => view.name === name);
  if (found === undefined) throw misuse(`There is no view '${name}'; see ops runs views`);
  // The parameters as texts, which the client sends unchanged.
  return Object.fromEntries(new URLSearchParams(found.filter));
}

async function givenFilters(
  client: Client,
  { workflow, status, ...flags }: Omit<FilterOptions, 'view'>,
): Promise<Filters> {
  const all = {
    q: flags.search,
    workflow_id: await workflowIdOf(client, workflow),
    version: flags.version,
    status: status === undefined ? undefined : (status.split(',') as Run['status'][]),
    failure_kind: flags.failure,
    trigger: flags.trigger,
    parent_run_id: flags.parent,
    forked_from: flags.forkedFrom,
    mode: flags.mode,
    since: flags.since,
    until: flags.until,
    min_cost_usd: flags.minCost,
    max_cost_usd: flags.maxCost,
    min_duration_ms: flags.minDuration,
    max_duration_ms: flags.maxDuration,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
