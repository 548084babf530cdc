import type { Command } from 'commander';
import type { Client, Schedule } from '#client/index.ts';
import { collect, readInput } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { showCommand } from '#cli/show.ts';
import { findWorkflow } from './workflows.ts';

interface NewSchedule {
  cron: string;
  name?: string;
  timezone?: string;
  input?: string[];
  overlap?: Schedule['overlap'];
}

const scheduleOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'schedule',
    prefix: 'sch',
    list: () => client.listSchedules(),
    names: ({ name }) => [name],
  });

export function scheduleCommands(program: Command): void {
  const schedules = program.command('schedules').description('list and manage schedules');

  schedules
    .command('list')
    .description('list schedules, newest first')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listSchedules(), {
          Id: (row) => row.id,
          Name: (row) => row.name,
          Workflow: (row) => row.workflow_id,
          Cron: (row) => row.cron,
          Zone: (row) => row.timezone,
          Enabled: (row) => (row.enabled ? 'yes' : 'no'),
          Next: (row) => row.next_run_at,
          Skipped: (row) => row.last_skip?.reason,
          Error: (row) => row.sync_error,
        });
      }),
    );

  showCommand(schedules, {
    noun: 'a schedule',
    argument: ['schedule', 'id or name'],
    read: async (client, schedule) => client.getSchedule(await scheduleOf(client, schedule)),
  });
  schedules
    .command('create')
    .argument('<workflow>', 'id or name')
    .description('create a schedule for a workflow')
    .requiredOption('--cron <cron>', 'minute, hour, day of month, month, day of week')
    .option('--name <name>')
    .option('--timezone <zone>', 'IANA name; default UTC')
    .option('-i, --input <input>', 'the input of each run; as in ops run', collect)
    .option('--overlap <overlap>', 'skip (default) or allow concurrent runs')
    .action(
      inSession<NewSchedule>(async ({ client, output }, [workflow = ''], { input, ...options }) => {
        const { id } = await findWorkflow(client, workflow);
        const given = input === undefined ? {} : { input: await readInput(input) };
        output.record(await client.createSchedule({ workflow_id: id, ...options, ...given }));
      }),
    );

  changeAndTrigger(schedules);
}

function changeAndTrigger(schedules: Command): void {
  schedules
    .command('delete')
    .argument('<schedule>', 'id or name')
    .description('delete a schedule; its runs continue')
    .addOption(ifMatch('schedule'))
    .action(
      inSession(async ({ client, output, known }, [schedule = '']) => {
        await client.deleteSchedule(await scheduleOf(client, schedule), known);
        output.note(`Deleted ${schedule}`);
      }),
    );

  schedules
    .command('trigger')
    .argument('<schedule>', 'id or name')
    .description('start a run of a schedule now')
    .action(
      inSession(async ({ client, output }, [schedule = '']) => {
        const run = await client.triggerSchedule(await scheduleOf(client, schedule));
        output.record(run, { id: run.id, workflow: run.workflow_name, status: run.status });
      }),
    );
}
