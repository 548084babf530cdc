import { type Command, InvalidArgumentError } from 'commander';
import type { BodyOf } from '#client/index.ts';
import { recordCommand } from '#cli/records.ts';
import { ifMatch, inSession } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';

interface SetOptions {
  event?: string | false;
  requireSignature?: boolean;
  tolerance?: number;
  dedupWindow?: number;
  eventIdField?: string;
  eventIdHeader?: string | false;
  acceptForms?: boolean;
  answerChallenges?: boolean;
}

function seconds(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give whole seconds.');
  return Number(text);
}

/** What is absent does not change. */
const bodyOf = (options: SetOptions): BodyOf<'PUT /api/workflows/{id}/webhook/config'> => ({
  event: options.event === false ? null : options.event,
  require_signature: options.requireSignature,
  timestamp_tolerance_seconds: options.tolerance,
  dedup_window_seconds: options.dedupWindow,
  event_id_field: options.eventIdField,
  event_id_header: options.eventIdHeader === false ? null : options.eventIdHeader,
  accept_forms: options.acceptForms,
  answer_challenges: options.answerChallenges,
});

/** Commands for the inbound webhook of a workflow. */
export function inboundWebhookCommands(program: Command): void {
  const webhook = program
    .command('inbound-webhook')
    .description(
      'the address at which a workflow receives requests, which start runs or are events',
    );

  recordCommand(webhook, ['show', 'show the inbound webhook of a workflow and its settings'], {
    argument: ['workflow', 'id or name'],
    read: async (client, workflow) => client.getWebhook((await findWorkflow(client, workflow)).id),
  });
  recordCommand(webhook, ['enable', 'enable it, or give it a new URL; the previous one ends'], {
    argument: ['workflow', 'id or name'],
    read: async (client, workflow) =>
      client.enableWebhook((await findWorkflow(client, workflow)).id),
  });

  webhook
    .command('set')
    .argument('<workflow>', 'id or name')
    .description('change settings of the inbound webhook; omitted ones stay')
    .option('--event <name>', 'send each request as an event of this name, such as lead.received')
    .option('--no-event', 'start a run for each request')
    .option('--require-signature', 'refuse requests without a valid signature')
    .option('--no-require-signature', 'accept requests without a signature')
    .option('--tolerance <seconds>', 'how far the time of a signature may be from now', seconds)
    .option('--dedup-window <seconds>', 'how long a known event starts no second run', seconds)
    .option('--event-id-field <field>', 'the field of the body with the id of the event')
    .option('--event-id-header <header>', 'the header with the id, such as X-GitHub-Delivery')
    .option('--no-event-id-header', 'the id is in X-Service-Event-Id or the body')
    .option('--accept-forms', 'take the fields of a form as the input')
    .option('--no-accept-forms', 'take only JSON')
    .option('--answer-challenges', 'answer the challenges by which senders check an address')
    .option('--no-answer-challenges', 'treat challenges as requests')
    .addOption(ifMatch('inbound webhook'))
    .action(
      inSession<SetOptions>(async ({ client, output, known }, [workflow = ''], options) => {
        const { id } = await findWorkflow(client, workflow);
        output.record(await client.configureWebhook(id, bodyOf(options), known));
      }),
    );

  webhook
    .command('disable')
    .argument('<workflow>', 'id or name')
    .description('disable the inbound webhook; its URL ends, and its settings stay')
    .addOption(ifMatch('inbound webhook'))
    .action(
      inSession(async ({ client, output, known }, [workflow = '']) => {
        await client.disableWebhook((await findWorkflow(client, workflow)).id, known);
        output.note(`Disabled the inbound webhook of ${workflow}`);
      }),
    );
}
