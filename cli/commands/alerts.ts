import type { Command } from 'commander';
import { inSession } from '#cli/session.ts';
import { recordCommand } from '#cli/records.ts';

export function alertCommands(program: Command): void {
  const alerts = program.command('alerts').description('see alert channels');

  alerts
    .command('list')
    .description('list the channels')
    .action(
      inSession(async ({ client, output }) => {
        const { channels } = await client.getAlerts();
        output.list(channels, {
          Channel: 'channel',
          Configured: (row) => (row.configured ? 'yes' : 'no'),
          Events: (row) => row.events.join(', '),
          Hint: (row) => (row.configured ? null : row.hint),
        });
      }),
    );

  recordCommand(alerts, ['test', 'send a test over every configured channel'], {
    read: (client) => client.testAlerts(),
    fields: (sent) => ({ 'sending over': sent.channels.join(', ') }),
  });
}
