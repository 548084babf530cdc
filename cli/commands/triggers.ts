import type { Command } from 'commander';
import { collect, readInputIf } from '#cli/input.ts';
import { recordCommand, removeCommand } from '#cli/records.ts';
import { idempotencyKey, ifMatch, inSession } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';

interface Conditions {
  match?: string;
  input?: string[];
}

export function triggerCommands(program: Command): void {
  const triggers = program
    .command('triggers')
    .description('list and manage event triggers: a run of a workflow for each event that matches');

  triggers
    .command('list')
    .argument('<workflow>', 'id or name')
    .description('list the event triggers of a workflow, newest first')
    .action(
      inSession(async ({ client, output }, [workflow = '']) => {
        const { id } = await findWorkflow(client, workflow);
        output.list(await client.listEventTriggers(id), {
          Id: 'id',
          Event: 'event',
          Match: 'match',
          Enabled: (row) => (row.enabled ? 'yes' : 'no'),
          'Last run': 'last_run_id',
          Skipped: (row) => row.last_skip?.reason,
        });
      }),
    );

  recordCommand(triggers, ['show', 'show an event trigger'], {
    argument: ['trigger', 'trg_...'],
    read: (client, id) => client.getEventTrigger(id),
  });

  triggers
    .command('create')
    .argument('<workflow>', 'id or name')
    .description('start a run of a workflow for each later event that matches')
    .requiredOption('--event <name>', 'such as invoice.paid')
    .option('--match <expression>', 'over event, such as event.data.amount > 100')
    .option('-i, --input <input>', 'templates over event; as in ops run', collect)
    .addOption(idempotencyKey())
    .action(
      inSession<Conditions & { event: string; idempotencyKey?: string }>(
        async ({ client, output }, [workflow = ''], given) => {
          const { input, idempotencyKey: key, ...options } = given;
          const { id } = await findWorkflow(client, workflow);
          const body = { ...options, input: await readInputIf(input) };
          output.record(await client.createEventTrigger(id, body, { idempotencyKey: key }));
        },
      ),
    );

  triggers
    .command('update')
    .argument('<trigger>', 'trg_...')
    .description('change, enable or disable an event trigger; omitted fields stay')
    .option('--event <name>', 'such as invoice.paid')
    .option('--match <expression>', 'over event, such as event.data.amount > 100')
    .option('-i, --input <input>', 'templates over event; as in ops run', collect)
    .option('--enable', 'starts runs for later events')
    .option('--disable', 'starts no runs')
    .addOption(ifMatch('trigger'))
    .action(
      inSession<Conditions & { event?: string; enable?: true; disable?: true }>(
        async ({ client, output, known }, [id = ''], { event, match, input, enable, disable }) => {
          const enabled = disable === true ? false : enable;
          const body = { event, match, enabled, input: await readInputIf(input) };
          output.record(await client.updateEventTrigger(id, body, known));
        },
      ),
    );

  removeCommand(triggers, ['delete', 'delete an event trigger; its runs continue'], {
    argument: ['trigger', 'trg_...'],
    remove: async (client, id, known) => client.deleteEventTrigger(id, known),
  });
}
