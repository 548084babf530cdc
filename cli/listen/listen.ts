import {
  ApiError,
  type Client,
  type DataEndpoint,
  type WebhookEndpointEvent,
} from '#client/index.ts';
import { misuse, refusal } from '#cli/endings.ts';
import { exactJson, type Output, printable } from '#cli/output.ts';
import { idOf } from '#cli/references.ts';
import type { Session } from '#cli/session.ts';
import { terminal } from '#cli/terminal.ts';
import { eventsAsTheyCome } from './feed.ts';
import { ensureListener, findListener, listenerNamed } from './listener.ts';
import { eventTypesIn } from './patterns.ts';
import { forwardingSecret } from './secret.ts';
import { forward, type Outcome, targetOf } from './target.ts';

export interface ListenOptions {
  forwardTo: string;
  /** Patterns of event types, separated by commas. */
  events?: string;
  /** The id or URL of an endpoint whose events are forwarded, instead of those of a listener. */
  endpoint?: string;
  /** The listener's name. */
  name?: string;
  demo?: true;
  /** ISO 8601. */
  since?: string;
  /** The id of the only event to forward. */
  replay?: string;
}

const endpointOf = idOf({
  noun: 'webhook',
  prefix: 'end',
  list: (client) => client.listEndpoints(),
  names: ({ url }) => [url],
});

/**
 * Forwards events to a local address until the signal is aborted, or one event. A receiver that fails does not end it.
 * Throws Ending: `usage` for wrong options, `refused` if a replayed event was not accepted; and what the service refuses.
 */
export async function listen(
  { client, output }: Pick<Session, 'client' | 'output'>,
  options: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const target = targetOf(options.forwardTo);
  const types = eventTypesIn(options.events);
  const { since } = options;
  if (since !== undefined && Number.isNaN(Date.parse(since))) {
    throw misuse(`--since '${since}' is neither a time nor one such as 10m`);
  }
  // Checked before the first request.
  const named = listenerNamed(options);
  const secret = await forwardingSecret(client);
  const send = (event: WebhookEndpointEvent): Promise<Outcome> =>
    forward(event, { target, secret, signal });
  if (options.replay !== undefined) return replay(client, output, { ...options, send });
  const register = async (): Promise<DataEndpoint> =>
    options.endpoint === undefined
      ? ensureListener(client, named, types)
      : client.getEndpoint(await endpointOf(client, options.endpoint));
  let endpoint = await register();
  const counts = { accepted: 0, failed: 0 };
  let isAnnounced = false;
  const onReady = (): void => {
    if (!isAnnounced) announce(output, { endpoint, target, secret });
    isAnnounced = true;
  };
  const forwardAll = async (from: string | undefined): Promise<void> => {
    const notices = { onReady, ...noticesOf(client) };
    const feed = eventsAsTheyCome(client, endpoint.id, { since: from, signal, ...notices });
    for await (const event of feed) {
      if (event.type !== 'ping' && !types.includes(event.type)) continue;
      const outcome = await send(event);
      counts[outcome.error === null ? 'accepted' : 'failed'] += 1;
      print(output, event, outcome);
      if (counts.failed === 1 && outcome.error !== null) {
        output.note(output.paint('dim', failedOnce));
      }
    }
  };
  try {
    for (let from = since; ; from = endpoint.created_at) {
      try {
        await forwardAll(from);
      } catch (error) {
        const isGone = error instanceof ApiError && error.status === 404;
        if (!isGone || options.endpoint !== undefined) throw error;
        // It was deleted: by someone, or because this machine slept for a day.
        say('The listener was deleted: registering it again');
        endpoint = await register();
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    output.note(`Stopped: ${counts.accepted} accepted, ${counts.failed} failed`);
  }
}

const failedOnce =
  'A failed event is not sent again by itself. To forward it again: ops listen --forward-to <url> --replay <event>';

/** Forwards one event of an endpoint or listener. */
async function replay(
  client: Client,
  output: Output,
  { send, ...options }: ListenOptions & { send: (event: WebhookEndpointEvent) => Promise<Outcome> },
): Promise<void> {
  const { replay: eventId = '', endpoint: reference } = options;
  const named = listenerNamed(options);
  const endpointId =
    reference === undefined
      ? (await findListener(client, named))?.id
      : await endpointOf(client, reference);
  if (endpointId === undefined) {
    throw refusal(`There is no listener '${named.url}': ops listen without --replay registers it`);
  }
  const { events } = await client.listEndpointEvents(endpointId, { event_id: eventId });
  const [event] = events;
  if (event === undefined) {
    const other = reference === undefined ? ': --endpoint names an endpoint that has it' : '';
    throw refusal(`${reference ?? named.url} has no event '${eventId}'${other}`);
  }
  const outcome = await send(event);
  print(output, event, outcome);
  if (outcome.error !== null) throw refusal('The event was not accepted');
}

function announce(
  output: Output,
  { endpoint, target, secret }: { endpoint: DataEndpoint; target: URL; secret: string },
): void {
  if (output.format === 'json') {
    const { id, url } = endpoint;
    const ready = { type: 'listening', endpoint_id: id, url, forward_to: target.href, secret };
    output.line(exactJson(ready, 0));
    return;
  }
  output.note(`Forwarding events of ${printable(endpoint.url)} to ${printable(target.href)}`);
  output.note(`Signing secret: ${secret} (the same each time on this machine)`);
  output.note(output.paint('dim', 'Ctrl-C ends'));
}

/** One line: when, what, and how the receiver answered. */
function print(output: Output, event: WebhookEndpointEvent, outcome: Outcome): void {
  const { event_id, delivery_id, type } = event;
  const at = new Date();
  if (output.format === 'json') {
    const line = { type: 'event', at: at.toISOString(), event: type, event_id, delivery_id };
    output.line(exactJson({ ...line, ...outcome }, 0));
    return;
  }
  const { status, duration_ms: ms, error } = outcome;
  const answer = output.paint(error === null ? 'green' : 'red', String(status ?? 'failed'));
  const reason = error === null ? '' : `  ${printable(error)}`;
  output.line(
    `${at.toTimeString().slice(0, 8)}  ${type.padEnd(18)}  ${event_id}  ${answer}  ${ms} ms${reason}`,
  );
}

const noticesOf = ({ baseUrl }: Client) => ({
  onLost: ({ message }: Error) => say(`${message}. Trying again`),
  onBack: () => say(`${baseUrl} answers again`),
});

const say = (message: string): void => {
  terminal().stderr.write(`ops: ${printable(message)}\n`);
};
