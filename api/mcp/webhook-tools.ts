import { z } from 'zod';
import { alertSettingsSchema } from '#shared/contract/alerts/alert.ts';
import { refuseEmptyPeriod } from '#shared/contract/common.ts';
import {
  dataDeliveryQuery,
  dataEndpointInput,
  dataEndpointSchema,
  deliveryListSchema,
  deliverySchema,
  endpointUpdate,
  newDataEndpointSchema,
  redeliveredSchema,
  redeliverRangeFields,
  rotatedSecretSchema,
} from '#shared/contract/data/outbound.ts';
import { pingEndpoint, redeliver, redeliverRange } from '#shared/db/webhooks/deliveries.ts';
import type { Pool } from '#shared/db/pool.ts';
import { deleteEndpoint, listEndpoints, readEndpoint } from '#shared/db/webhooks/endpoints.ts';
import { alertSettings } from '#shared/operations/alerts/alerts.ts';
import {
  changeEndpoint,
  registerEndpoint,
  rotateEndpointSecret,
} from '#shared/operations/webhooks/endpoints.ts';
import { deliveryPage } from '#api/data/delivery-page.ts';
import { comparingWrites } from '#api/http/conditional.ts';
import {
  callOnce,
  changes,
  defineTool,
  idempotencyKeyArgument,
  ifMatchArgument,
  looksOnly,
  matchOf,
  type ToolCall,
} from './tool.ts';

const webhook = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'Id of the webhook endpoint (end_...)' });
const endpointMatch = ifMatchArgument('webhook endpoint');

const writesOf = ({ context, actor }: ToolCall, id: string, etag: string | undefined): Pool =>
  comparingWrites(context.db, matchOf(etag), {
    noun: 'endpoint',
    workspaceId: actor.workspaceId,
    id,
    read: (tx) => readEndpoint(tx, actor, id),
  });
const sends = { ...changes, openWorldHint: true };
const replaces = { ...sends, destructiveHint: true };

export const webhookTools = [
  defineTool({
    name: 'get_alerts',
    title: 'Read the alerts of the workspace',
    description:
      'Reads what the workspace sends alerts for, over which channels, and what differs for the runs of a workflow. ' +
      'URLs are masked.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({}),
    output: alertSettingsSchema,
    handle: async ({ context, actor }) => alertSettings(context, actor),
  }),
  defineTool({
    name: 'list_webhooks',
    title: 'List webhook endpoints',
    description:
      'Lists the URLs that receive events of runs and records, newest first, with their events and whether their ' +
      'deliveries fail.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({}),
    output: z.object({ webhooks: z.array(dataEndpointSchema) }),
    handle: async ({ context, actor }) => ({
      webhooks: [...(await listEndpoints(context.db, actor))],
    }),
  }),
  defineTool({
    name: 'create_webhook',
    title: 'Register a webhook endpoint',
    description:
      'Registers a URL that receives events, such as run.completed, run.failed, run.paused and approval.requested. ' +
      'The result contains the secret that signs deliveries, only this once: give it to the person who asked, and ' +
      'do not repeat it elsewhere.',
    capability: 'manage_workspace',
    annotations: sends,
    input: z.strictObject({ ...dataEndpointInput.shape, idempotency_key: idempotencyKeyArgument }),
    output: newDataEndpointSchema,
    handle: async (call, args) => {
      const { idempotency_key: _key, ...input } = args;
      return callOnce(call, 'create_webhook', args, async (db) => ({
        answer: await registerEndpoint({ ...call.context, db }, call.actor, input),
      }));
    },
  }),
  defineTool({
    name: 'update_webhook',
    title: 'Change a webhook endpoint',
    description:
      'Changes the URL or the events of a webhook endpoint. What is absent stays. Pending deliveries go to the new ' +
      'URL.',
    capability: 'manage_workspace',
    annotations: { ...replaces, idempotentHint: true },
    input: z.strictObject({ webhook, ...endpointUpdate.shape, if_match: endpointMatch }),
    output: dataEndpointSchema,
    handle: async (call, { webhook: id, if_match: etag, ...update }) =>
      changeEndpoint({ ...call.context, db: writesOf(call, id, etag) }, call.actor, id, update),
  }),
  defineTool({
    name: 'delete_webhook',
    title: 'Delete a webhook endpoint',
    description: 'Deletes a webhook endpoint and its pending deliveries.',
    capability: 'manage_workspace',
    annotations: replaces,
    input: z.strictObject({ webhook, if_match: endpointMatch }),
    output: z.object({ deleted: z.string() }),
    handle: async (call, { webhook: id, if_match: etag }) => {
      await deleteEndpoint(writesOf(call, id, etag), call.actor, id);
      return { deleted: id };
    },
  }),
  defineTool({
    name: 'rotate_webhook_secret',
    title: 'Replace the secret of a webhook endpoint',
    description:
      'Returns a new secret, only this once. For 24 hours deliveries are also signed with the previous one.',
    capability: 'manage_workspace',
    annotations: replaces,
    input: z.strictObject({ webhook, idempotency_key: idempotencyKeyArgument }),
    output: rotatedSecretSchema,
    handle: async (call, args) =>
      callOnce(call, 'rotate_webhook_secret', args, async (db) => ({
        answer: await rotateEndpointSecret({ ...call.context, db }, call.actor, args.webhook),
      })),
  }),
  defineTool({
    name: 'test_webhook',
    title: 'Send a test event',
    description:
      'Sends an event of the type ping to a webhook endpoint. list_webhook_deliveries shows its result.',
    capability: 'manage_workspace',
    annotations: sends,
    input: z.strictObject({ webhook, idempotency_key: idempotencyKeyArgument }),
    output: deliverySchema,
    handle: async (call, args) =>
      callOnce(call, 'test_webhook', args, async (db) => ({
        answer: await pingEndpoint(db, call.actor, args.webhook),
      })),
  }),
  defineTool({
    name: 'list_webhook_deliveries',
    title: 'List deliveries',
    description:
      'Lists the deliveries of a webhook endpoint, newest first, each with its attempts and their errors.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      webhook,
      status: dataDeliveryQuery.shape.status,
      cursor: dataDeliveryQuery.shape.cursor,
      limit: z.int().min(1).max(50).default(20),
    }),
    output: deliveryListSchema,
    handle: async ({ context, actor }, { webhook: id, ...query }) =>
      deliveryPage(context, actor, id, query),
  }),
  defineTool({
    name: 'redeliver_webhook',
    title: 'Redeliver one delivery',
    description:
      'Starts a delivery that has ended again, with all its attempts and the same ids. One that is pending is ' +
      'already retried.',
    capability: 'manage_workspace',
    annotations: sends,
    input: z.strictObject({
      webhook,
      delivery: z.string().min(1).max(100).meta({ description: 'Id of the delivery (dlv_...)' }),
      idempotency_key: idempotencyKeyArgument,
    }),
    output: deliverySchema,
    handle: async (call, args) => {
      const { webhook: endpointId, delivery: deliveryId } = args;
      return callOnce(call, 'redeliver_webhook', args, async (db) => ({
        answer: await redeliver(db, call.actor, { endpointId, deliveryId }),
      }));
    },
  }),
  defineTool({
    name: 'redeliver_webhook_range',
    title: 'Redeliver the deliveries of a range',
    description:
      'Starts the failed deliveries of events of a range again, oldest first; with status all, delivered ones, too. ' +
      'left is the number that did not fit: call again later.',
    capability: 'manage_workspace',
    annotations: sends,
    input: z
      .strictObject({
        webhook,
        ...redeliverRangeFields,
        idempotency_key: idempotencyKeyArgument,
      })
      .check(refuseEmptyPeriod),
    output: redeliveredSchema,
    handle: async (call, args) => {
      const { webhook: id, idempotency_key: _key, ...range } = args;
      return callOnce(call, 'redeliver_webhook_range', args, async (db) => ({
        answer: await redeliverRange(db, call.actor, id, range),
      }));
    },
  }),
];
