import { type Command, Option } from 'commander';
import type { Budget, Client } from '#client/index.ts';
import { overrunModes } from '#shared/contract/money/budget.ts';
import { positive } from '#cli/input.ts';
import { dollars } from '#cli/output.ts';
import { idOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';

interface NewBudget {
  limit: number;
  window?: Budget['window'];
  workflow?: string;
  reserve?: number;
  overrun?: Budget['overrun'];
}

const budgetOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'budget',
    prefix: 'bud',
    list: () => client.listBudgets(),
    names: ({ name }) => [name],
  });

export function moneyCommands(program: Command): void {
  const budgets = program.command('budgets').description('list and manage budgets');
  readBudgets(budgets);
  changeBudgets(budgets);
  usage(program);
}

function readBudgets(budgets: Command): void {
  budgets
    .command('list')
    .description('list budgets')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listBudgets(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Scope: (row) => row.workflow_id ?? row.scope,
          Window: (row) => row.window,
          Limit: (row) => dollars(row.limit_usd),
          Committed: (row) => dollars(row.status.committed_usd),
          Used: (row) => `${row.status.pct}%`,
        });
      }),
    );

  budgets
    .command('show')
    .argument('<budget>', 'id or name')
    .description('show the spent, reserved and remaining amounts of a budget')
    .action(
      inSession(async ({ client, output }, [reference = '']) => {
        const budget = await client.getBudget(await budgetOf(client, reference));
        const { status, ...rest } = budget;
        output.record(budget, { ...rest, ...status });
      }),
    );
}

function changeBudgets(budgets: Command): void {
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
    .action(
      inSession<NewBudget>(async ({ client, output }, [name = ''], options) => {
        const { limit, window, workflow, reserve, overrun } = options;
        const scope =
          workflow === undefined
            ? {}
            : {
                scope: 'workflow' as const,
                workflow_id: (await findWorkflow(client, workflow)).id,
              };
        const budget = await client.createBudget({
          name,
          limit_usd: limit,
          ...(window === undefined ? {} : { window }),
          ...(reserve === undefined ? {} : { reservation_estimate_usd: reserve }),
          ...(overrun === undefined ? {} : { overrun }),
          ...scope,
        });
        const { status: _status, ...shown } = budget;
        output.record(budget, shown);
      }),
    );

  budgets
    .command('delete')
    .argument('<budget>', 'id or name')
    .description('delete a budget')
    .addOption(ifMatch('budget'))
    .action(
      inSession(async ({ client, output, known }, [budget = '']) => {
        await client.deleteBudget(await budgetOf(client, budget), known);
        output.note(`Deleted ${budget}`);
      }),
    );
}

function usage(program: Command): void {
  program
    .command('usage')
    .description("show the runs and the cost of this month, and the plan's limit")
    .action(
      inSession(async ({ client, output }) => {
        output.record(await client.getUsage());
      }),
    );
}
