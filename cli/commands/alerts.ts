import type { Command } from 'commander';
import { inSession } from '#cli/session.ts';

export function alertCommands(program: Command): void {
  const alerts = program.command('alerts').description('see alert channels');

  alerts
    .command('list')
    .description('list the channels')
    .action(
      inSession(async ({ client, output }) => {
        const { channels } = await client.getAlerts();
        output.list(channels, {
          Channel: (row) => row.channel,
          Configured: (row) => (row.configured ? 'yes' : 'no'),
          Events: (row) => row.events.join(', '),
          Hint: (row) => (row.configured ? null : row.hint),
        });
      }),
    );

  alerts
    .command('test')
    .description('send a test over every configured channel')
    .action(
      inSession(async ({ client, output }) => {
        const sent = await client.testAlerts();
        output.record(sent, { 'sending over': sent.channels.join(', ') });
      }),
    );
}
