import type { Command } from 'commander';
import type { Client, DataEndpoint, WebhookDelivery } from '#client/index.ts';
import { timeOrAgo } from '#cli/input.ts';
import { idOf } from '#cli/references.ts';
import { ifMatch, inSession } from '#cli/session.ts';

type Events = DataEndpoint['events'];

const webhookOf = (client: Client, reference: string) =>
  idOf(reference, {
    noun: 'webhook',
    prefix: 'end',
    list: () => client.listEndpoints(),
    names: ({ url }) => [url],
  });

export function webhookCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('list and manage webhook endpoints, which receive events of runs and records');
  listAndShow(webhooks);
  createAndUpdate(webhooks);
  removeAndRotate(webhooks);
  deliver(webhooks);
}

function listAndShow(webhooks: Command): void {
  webhooks
    .command('list')
    .description('list webhook endpoints, newest first')
    .action(
      inSession(async ({ client, output }) => {
        output.list(await client.listEndpoints(), {
          Id: (row) => row.id,
          Url: (row) => row.url,
          Events: (row) => row.events.join(' '),
          Demo: (row) => (row.is_demo ? 'yes' : 'no'),
          Status: (row) => row.status,
          'Last delivery': (row) => row.last_delivery_at,
        });
      }),
    );

  webhooks
    .command('show')
    .argument('<webhook>', 'id or URL')
    .description('show a webhook endpoint')
    .action(
      inSession(async ({ client, output }, [webhook = '']) => {
        output.record(await client.getEndpoint(await webhookOf(client, webhook)));
      }),
    );
}

function createAndUpdate(webhooks: Command): void {
  webhooks
    .command('create')
    .argument('<url>')
    .description('register a webhook endpoint; its secret is shown only this once')
    .requiredOption('--event <events...>', 'its events, such as run.failed')
    .option('--demo', 'events of demo records instead of live ones')
    .action(
      inSession<{ event: Events; demo?: boolean }>(
        async ({ client, output }, [url = ''], given) => {
          const { event: events, demo: is_demo = false } = given;
          output.record(await client.createEndpoint({ url, events, is_demo }));
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
}

function removeAndRotate(webhooks: Command): void {
  webhooks
    .command('delete')
    .argument('<webhook>', 'id or URL')
    .description('delete a webhook endpoint and its pending deliveries')
    .addOption(ifMatch('webhook endpoint'))
    .action(
      inSession(async ({ client, output, known }, [webhook = '']) => {
        await client.deleteEndpoint(await webhookOf(client, webhook), known);
        output.note(`Deleted ${webhook}`);
      }),
    );

  webhooks
    .command('rotate-secret')
    .argument('<webhook>', 'id or URL')
    .description('replace the secret; the previous one also signs for 24 hours')
    .action(
      inSession(async ({ client, output }, [webhook = '']) => {
        output.record(await client.rotateEndpointSecret(await webhookOf(client, webhook)));
      }),
    );
}

/** The result of a delivery, without its log. */
const shortly = ({ log, ...delivery }: WebhookDelivery) => ({
  ...delivery,
  last_error: log.at(-1)?.error ?? null,
});

function deliver(webhooks: Command): void {
  webhooks
    .command('test')
    .argument('<webhook>', 'id or URL')
    .description('send a test event')
    .action(
      inSession(async ({ client, output }, [webhook = '']) => {
        const sent = await client.pingEndpoint(await webhookOf(client, webhook));
        output.record(sent, shortly(sent));
      }),
    );

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
            Id: (row) => row.id,
            Event: (row) => row.type,
            Status: (row) => row.status,
            Attempts: (row) => row.attempts,
            Created: (row) => row.created_at,
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
    .action(
      inSession<{ since?: string; until?: string; all?: true }>(
        async ({ client, output }, [webhook = '', delivery], { all, ...range }) => {
          const id = await webhookOf(client, webhook);
          if (delivery === undefined) {
            const status = all === true ? 'all' : 'dead';
            output.record(await client.redeliverDeadLetters(id, { ...range, status }));
            return;
          }
          const again = await client.redeliverDelivery(id, delivery);
          output.record(again, shortly(again));
        },
      ),
    );
}
