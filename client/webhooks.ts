import type { CallOptions, Send } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { EventReceipt, Webhook } from './types.ts';
import { signInboundWebhook } from './signatures.ts';

export interface EventOptions extends CallOptions {
  /** Add the headers that a webhook with `require_signature` asks for. */
  sign?: boolean;
  /** Names the event, so that it starts one run within the webhook's window. */
  eventId?: string;
}

export function webhookMethods(send: Send) {
  return {
    /** Switches the webhook on, or gives it another secret: the old URL is invalid at once. */
    enableWebhook: (
      workflowId: string,
      options?: CallOptions,
    ): Promise<{ enabled: true; url: string }> =>
      send('POST /api/workflows/{id}/webhook', [workflowId], { options }),
    getWebhook: (workflowId: string, options?: CallOptions): Promise<Webhook> =>
      send('GET /api/workflows/{id}/webhook', [workflowId], { options }),
    disableWebhook: (workflowId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/workflows/{id}/webhook', [workflowId], { options }),
    /** What is absent stays. */
    configureWebhook: (
      workflowId: string,
      config: BodyOf<'PUT /api/workflows/{id}/webhook/config'>,
      options?: CallOptions,
    ): Promise<Webhook> =>
      send('PUT /api/workflows/{id}/webhook/config', [workflowId], { body: config, options }),
    /** Starts a run as an outside system does, by the secret in the webhook's URL. */
    sendEvent: async (
      workflowId: string,
      secret: string,
      event: unknown,
      { sign = false, eventId, ...options }: EventOptions = {},
    ): Promise<EventReceipt> => {
      // Undefined is no JSON; `{}` is what the service makes of an empty body.
      const body = event === undefined ? {} : event;
      const signed = sign ? await signInboundWebhook({ secret, body: JSON.stringify(body) }) : {};
      return send('POST /api/hooks/{workflow_id}/{secret}', [workflowId, secret], {
        body,
        headers: { ...signed, ...(eventId === undefined ? {} : { 'X-Service-Event-Id': eventId }) },
        options,
      });
    },
  };
}
