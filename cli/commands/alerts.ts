import type { Command } from 'commander';
import type { BodyOf } from '#client/index.ts';
import { readJsonObject } from '#cli/input.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { recordCommand } from '#cli/records.ts';

export function alertCommands(program: Command): void {
  const alerts = program.command('alerts').description('see and set the alerts of the workspace');

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

  recordCommand(alerts, ['get', 'show the settings'], {
    read: (client) => client.getAlerts(),
    fields: ({ channels: _channels, ...settings }) => settings,
  });

  alerts
    .command('set')
    .description('replace the settings')
    // The URL of a webhook is a secret, which must not be a process argument.
    .requiredOption('-f, --file <file>', 'the settings as JSON; - for standard input')
    .addOption(ifMatch('settings'))
    .action(
      inSession<{ file: string }>(async ({ client, output, known }, _args, { file }) => {
        const body = (await readJsonObject(file)) as BodyOf<'PUT /api/workspace/alerts'>;
        const { channels: _channels, ...settings } = await client.setAlerts(body, known);
        output.record(settings);
      }),
    );

  recordCommand(alerts, ['test', 'send a test over every configured channel'], {
    read: (client) => client.testAlerts(),
    fields: (sent) => ({ 'sending over': sent.channels.join(', ') }),
  });
}
