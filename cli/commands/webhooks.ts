import type { Command } from 'commander';
import type { DataEndpoint, WebhookDelivery } from '#client/index.ts';
import { timeOrAgo } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { idempotencyKey, ifMatch, inSession } from '#cli/session.ts';
import { listCommand, onceCommand, recordCommand, removeCommand } from '#cli/records.ts';

type Events = DataEndpoint['events'];

const webhookOf = idOf({
  noun: 'webhook',
  prefix: 'end',
  list: (client) => client.listEndpoints(),
  names: ({ url }) => [url],
});

export function webhookCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('list and manage webhook endpoints, which receive events of runs and records');

  listCommand(webhooks, 'list webhook endpoints, newest first', {
    rows: (client) => client.listEndpoints(),
    columns: {
      Id: 'id',
      Url: 'url',
      Events: (row) => row.events.join(' '),
      Demo: (row) => (row.is_demo ? 'yes' : 'no'),
      Status: 'status',
      'Last delivery': 'last_delivery_at',
    },
  });

  recordCommand(webhooks, ['show', 'show a webhook endpoint'], {
    argument: ['webhook', 'id or URL'],
    read: async (client, webhook) => client.getEndpoint(await webhookOf(client, webhook)),
  });

  webhooks
    .command('create')
    .argument('<url>')
    .description('register a webhook endpoint; its secret is shown only this once')
    .requiredOption('--event <events...>', 'its events, such as run.failed')
    .option('--demo', 'events of demo records instead of live ones')
    .addOption(idempotencyKey())
    .action(
      inSession<{ event: Events; demo?: boolean; idempotencyKey?: string }>(
        async ({ client, output }, [url = ''], given) => {
          const { event: events, demo: is_demo = false, ...once } = given;
          output.record(await client.createEndpoint({ url, events, is_demo }, once));
        },
      ),
    );

  webhooks
    .command('update')
    .argument('<webhook>', 'id or URL')
    .description('change the URL or the events of a webhook endpoint')
    // `--url` is already the option for the service's address.
    .option('--new-url <url>', 'where its events go from now on')
    .option('--event <events...>', 'all its events, such as run.failed')
    .addOption(ifMatch('webhook endpoint'))
    .action(
      inSession<{ newUrl?: string; event?: Events }>(
        async ({ client, output, known }, [webhook = ''], { newUrl: url, event: events }) => {
          const id = await webhookOf(client, webhook);
          output.record(await client.updateEndpoint(id, { url, events }, known));
        },
      ),
    );

  removeCommand(webhooks, ['delete', 'delete a webhook endpoint and its pending deliveries'], {
    noun: 'webhook endpoint',
    argument: ['webhook', 'id or URL'],
    remove: async (client, webhook, known) =>
      client.deleteEndpoint(await webhookOf(client, webhook), known),
  });

  onceCommand(
    webhooks,
    ['rotate-secret', 'replace the secret; the previous one also signs for 24 hours'],
    {
      argument: ['webhook', 'id or URL'],
      act: async (client, webhook, once) =>
        client.rotateEndpointSecret(await webhookOf(client, webhook), once),
    },
  );

  onceCommand(webhooks, ['test', 'send a test event'], {
    argument: ['webhook', 'id or URL'],
    act: async (client, webhook, once) =>
      client.pingEndpoint(await webhookOf(client, webhook), once),
    fields: shortly,
  });

  webhooks
    .command('deliveries')
    .argument('<webhook>', 'id or URL')
    .description('list the latest deliveries, newest first')
    .option('--status <status>', 'pending, delivered or dead')
    .action(
      inSession<{ status?: WebhookDelivery['status'] }>(
        async ({ client, output }, [webhook = ''], { status }) => {
          const id = await webhookOf(client, webhook);
          output.list((await client.listDeliveries(id, { status })).deliveries, {
            Id: 'id',
            Event: 'type',
            Status: 'status',
            Attempts: 'attempts',
            Created: 'created_at',
            Error: (row) => row.log.at(-1)?.error ?? row.reason,
          });
        },
      ),
    );

  webhooks
    .command('redeliver')
    .argument('<webhook>', 'id or URL')
    .argument('[delivery]', 'id; all failed deliveries without it')
    .description('send deliveries again')
    .option(
      '--since <time>',
      'only deliveries of events since then, as 7d, 12h or ISO 8601',
      timeOrAgo,
    )
    .option('--until <time>', 'only deliveries of events before then', timeOrAgo)
    .option('--all', 'delivered ones, too')
    .addOption(idempotencyKey())
    .action(
      inSession<{ since?: string; until?: string; all?: true; idempotencyKey?: string }>(
        async ({ client, output }, [webhook = '', delivery], { all, ...given }) => {
          const { since, until, ...once } = given;
          const id = await webhookOf(client, webhook);
          if (delivery === undefined) {
            const status = all === true ? 'all' : 'dead';
            output.record(await client.redeliverDeadLetters(id, { since, until, status }, once));
            return;
          }
          const again = await client.redeliverDelivery(id, delivery, once);
          output.record(again, shortly(again));
        },
      ),
    );
}

/** The result of a delivery, without its log. */
const shortly = ({ log, ...delivery }: WebhookDelivery) => ({
  ...delivery,
  last_error: log.at(-1)?.error ?? null,
});
