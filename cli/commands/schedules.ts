import type { Command } from 'commander';
import type { Schedule } from '#client/index.ts';
import { collect, readInputIf } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { idempotencyKey, inSession } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';
import { listCommand, onceCommand, recordCommand, removeCommand } from '#cli/records.ts';

interface NewSchedule {
  cron: string;
  name?: string;
  timezone?: string;
  input?: string[];
  overlap?: Schedule['overlap'];
  idempotencyKey?: string;
}

const scheduleOf = idOf({
  noun: 'schedule',
  prefix: 'sch',
  list: (client) => client.listSchedules(),
});

export function scheduleCommands(program: Command): void {
  const schedules = program.command('schedules').description('list and manage schedules');

  listCommand(schedules, 'list schedules, newest first', {
    rows: (client) => client.listSchedules(),
    columns: {
      Id: 'id',
      Name: 'name',
      Workflow: 'workflow_id',
      Cron: 'cron',
      Zone: 'timezone',
      Enabled: (row) => (row.enabled ? 'yes' : 'no'),
      Next: 'next_run_at',
      Skipped: (row) => row.last_skip?.reason,
      Error: 'sync_error',
    },
  });

  recordCommand(schedules, ['show', 'show a schedule'], {
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
    .addOption(idempotencyKey())
    .action(
      inSession<NewSchedule>(async ({ client, output }, [workflow = ''], given) => {
        const { input, idempotencyKey: key, ...options } = given;
        const { id } = await findWorkflow(client, workflow);
        const body = { workflow_id: id, ...options, input: await readInputIf(input) };
        output.record(await client.createSchedule(body, { idempotencyKey: key }));
      }),
    );

  removeCommand(schedules, ['delete', 'delete a schedule; its runs continue'], {
    argument: ['schedule', 'id or name'],
    remove: async (client, schedule, known) =>
      client.deleteSchedule(await scheduleOf(client, schedule), known),
  });

  onceCommand(schedules, ['trigger', 'start a run of a schedule now'], {
    argument: ['schedule', 'id or name'],
    act: async (client, schedule, once) =>
      client.triggerSchedule(await scheduleOf(client, schedule), once),
    fields: (run) => ({ id: run.id, workflow: run.workflow_name, status: run.status }),
  });
}
