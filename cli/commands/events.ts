import type { Command } from 'commander';
import { collect, readInputIf } from '#cli/input.ts';
import { listCommand, recordCommand } from '#cli/records.ts';
import { inSession } from '#cli/session.ts';

export function eventCommands(program: Command): void {
  const events = program
    .command('event')
    .description('send events that runs wait for, and see what they did');

  events
    .command('send')
    .argument('<name>', 'such as invoice.paid')
    .description('send an event, which ends the waits for it')
    .option('-d, --data <data>', 'its data; as the input of ops run', collect)
    .option('--id <id>', 'stores the same event once')
    .action(
      inSession<{ data?: string[]; id?: string }>(
        async ({ client, output }, [name = ''], { data, id }) => {
          output.record(
            await client.sendWorkspaceEvent({ name, id, data: await readInputIf(data) }),
          );
        },
      ),
    );

  listCommand(events, 'list the newest 50 events', {
    rows: async (client) => (await client.listWorkspaceEvents()).events,
    columns: {
      Id: 'id',
      Name: 'name',
      'Own id': 'given_id',
      Sent: 'created_at',
      By: 'created_by',
      Woke: 'woke',
    },
  });

  recordCommand(events, ['show', 'show an event with the waits that it has ended'], {
    argument: ['event', 'evt_...'],
    read: (client, id) => client.getWorkspaceEvent(id),
  });
}
