import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { KEPT_BODY_BYTES } from '#shared/contract/inbound/inbound-event.ts';
import { newId } from '#shared/crypto/ids.ts';
import type { ArrivedEvent } from '#shared/db/inbound/arrived-event.ts';
import { clientNetwork } from '#api/http/client-address.ts';
import { eventIdOfHeader } from '#shared/operations/inbound/event.ts';

/** The headers that are stored in the log, which never include signatures, credentials or cookies. */
const KEPT_HEADERS = [
  'content-type',
  'content-encoding',
  'user-agent',
  'x-request-id',
  'x-service-event-id',
  'x-service-timestamp',
  'webhook-id',
  'webhook-timestamp',
  'idempotency-key',
  'x-event-id',
  'x-event-key',
  'x-event-type',
  'x-github-delivery',
  'x-github-event',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-shopify-topic',
  'x-shopify-webhook-id',
  'ce-id',
  'ce-type',
] as const;

/** The maximum stored length of a header, in characters. */
const MAX_HEADER = 200;
/**
 * The bits of an address that are stored in the log: enough to recognize a sender, but too few to identify a machine.
 */
const IPV4_BITS = 24;
const IPV6_BITS = 48;

/** What is logged about a request to a webhook with this secret, before its body is read. */
export function arrivalOf(request: FastifyRequest, secret: string): ArrivedEvent {
  const { headers } = request;
  return {
    id: newId('inboundEvent'),
    source: networkOf(clientNetwork(request)),
    headers: Object.fromEntries(
      KEPT_HEADERS.flatMap((name) => {
        const value = headers[name];
        return typeof value === 'string'
          ? [[name, value.replaceAll(secret, '***').slice(0, MAX_HEADER)]]
          : [];
      }),
    ),
    size: null,
    body: null,
    eventId: eventIdOfHeader(headers['x-service-event-id']) ?? null,
  };
}

/** The same with the first bytes of its body. */
export function withBody(arrival: ArrivedEvent, body: Buffer): ArrivedEvent {
  const { length } = body;
  // A copy, so that the log does not hold the rest of a large body.
  const kept = length > KEPT_BODY_BYTES ? Buffer.from(body.subarray(0, KEPT_BODY_BYTES)) : body;
  return { ...arrival, size: length, body: kept };
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/${IPV4_BITS}`).toString()}/${IPV4_BITS}`;
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_BITS}`).toString()}/${IPV6_BITS}`;
}
