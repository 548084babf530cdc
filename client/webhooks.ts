import { RunSkippedError } from './errors.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { EventReceipt, Webhook } from './types.ts';
import { signInboundWebhook } from './signatures.ts';

export interface EventOptions extends CallOptions {
  /** Add the headers that a webhook with `require_signature` requires. */
  sign?: boolean;
  /** Deduplicates the event: it starts one run within the webhook's window, or is sent once. */
  eventId?: string;
}

export function webhookMethods(send: Send) {
  return {
    /** Enables the webhook, or replaces its secret: the old URL becomes invalid immediately. */
    enableWebhook: (
      workflowId: string,
      options?: CallOptions,
    ): Promise<{ enabled: true; url: string }> =>
      send('POST /api/workflows/{id}/webhook', [workflowId], { options }),
    getWebhook: (workflowId: string, options?: CallOptions): Promise<Webhook> =>
      send('GET /api/workflows/{id}/webhook', [workflowId], { options }),
    disableWebhook: (workflowId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/workflows/{id}/webhook', [workflowId], { options }),
    /** Omitted fields are unchanged. */
    configureWebhook: (
      workflowId: string,
      config: BodyOf<'PUT /api/workflows/{id}/webhook/config'>,
      options?: WriteOptions,
    ): Promise<Webhook> =>
      send('PUT /api/workflows/{id}/webhook/config', [workflowId], { body: config, options }),
    /**
     * Starts a run like an external system, or sends an event if the webhook has an `event`, with the secret in the webhook's URL. Throws for a challenge, which starts
     * no run.
     */
    sendEvent: async (
      workflowId: string,
      secret: string,
      event: unknown,
      { sign = false, eventId, ...options }: EventOptions = {},
    ): Promise<EventReceipt> => {
      // `undefined` is not JSON; the service reads an empty body as `{}`.
      const body = event === undefined ? {} : event;
      const signed = sign ? await signInboundWebhook({ secret, body: JSON.stringify(body) }) : {};
      const answer = await send('POST /api/hooks/{workflow_id}/{secret}', [workflowId, secret], {
        body,
        headers: { ...signed, ...(eventId === undefined ? {} : { 'X-Service-Event-Id': eventId }) },
        options,
      });
      if ('challenge' in answer) throw new Error('The event is a challenge, and started no run');
      if (answer.status === 'skipped') throw new RunSkippedError(answer.detail);
      return answer;
    },
  };
}
