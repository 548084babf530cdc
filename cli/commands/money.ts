import { type Command, Option } from 'commander';
import type { Budget } from '#client/index.ts';
import { overrunModes } from '#shared/contract/money/budget.ts';
import { positive } from '#cli/input.ts';
import { dollars } from '#cli/output.ts';
import { idOf } from '#cli/references.ts';
import { inSession } from '#cli/session.ts';
import { workflowIdOf } from './workflows.ts';
import { listCommand, recordCommand, removeCommand } from '#cli/records.ts';

interface NewBudget {
  limit: number;
  window?: Budget['window'];
  workflow?: string;
  reserve?: number;
  overrun?: Budget['overrun'];
  alerts: boolean;
}

const budgetOf = idOf({ noun: 'budget', prefix: 'bud', list: (client) => client.listBudgets() });

export function moneyCommands(program: Command): void {
  const budgets = program.command('budgets').description('list and manage budgets');

  listCommand(budgets, 'list budgets', {
    rows: (client) => client.listBudgets(),
    columns: {
      Id: 'id',
      Name: 'name',
      Scope: (row) => row.workflow_id ?? row.scope,
      Window: 'window',
      Limit: (row) => dollars(row.limit_usd),
      Committed: (row) => dollars(row.status.committed_usd),
      Used: (row) => `${row.status.pct}%`,
    },
  });

  recordCommand(budgets, ['show', 'show the spent, reserved and remaining amounts of a budget'], {
    argument: ['budget', 'id or name'],
    read: async (client, reference) => client.getBudget(await budgetOf(client, reference)),
    fields: ({ status, ...rest }) => ({ ...rest, ...status }),
  });

  budgets
    .command('create')
    .argument('<name>')
    .description('limit the cost of runs')
    .requiredOption('--limit <dollars>', 'the limit', positive)
    .option('--window <window>', 'per day, week, month (default) or total')
    .option('--workflow <workflow>', 'for one workflow, by id or name')
    .option('--reserve <dollars>', 'the amount that each run reserves at its start', positive)
    .addOption(
      new Option(
        '--overrun <mode>',
        'none (default), or one_step: begin while something is left',
      ).choices([...overrunModes]),
    )
    .option('--no-alerts', 'send no alerts when 80% and 100% of the limit is spent')
    .action(
      inSession<NewBudget>(async ({ client, output }, [name = ''], options) => {
        const { limit, window, workflow, reserve, overrun, alerts } = options;
        const budget = await client.createBudget({
          name,
          limit_usd: limit,
          window,
          reservation_estimate_usd: reserve,
          overrun,
          alerts: alerts ? undefined : false,
          scope: workflow === undefined ? undefined : 'workflow',
          workflow_id: await workflowIdOf(client, workflow),
        });
        const { status: _status, ...shown } = budget;
        output.record(budget, shown);
      }),
    );

  removeCommand(budgets, ['delete', 'delete a budget'], {
    argument: ['budget', 'id or name'],
    remove: async (client, budget, known) =>
      client.deleteBudget(await budgetOf(client, budget), known),
  });

  usage(program);
}

function usage(program: Command): void {
  recordCommand(
    program,
    ['usage', "show the runs and the cost of this month, and the plan's limit"],
    {
      read: (client) => client.getUsage(),
    },
  );
}
