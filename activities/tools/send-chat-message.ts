import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Egress, EgressResponse } from '#shared/platform/egress/egress.ts';
import { callOutside, isSuccess, statusFailure } from '#shared/platform/calls/outside.ts';
import { createSecretCutter, type SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import { NodeError, type NodeRunner } from '#activities/nodes/node.ts';
import { withAddresses } from '#activities/step-secrets.ts';
import { parseParams } from './params.ts';

export const sendChatMessageParams = z.strictObject({
  text: z.union([z.string().min(1), z.number(), z.boolean()]).transform(String),
  webhook_url: z.string().min(1).nullish(),
});

/** Sends one message to an incoming webhook and returns any response. Throws EgressError, or the signal's reason. */
export function postChatMessage(
  egress: Egress,
  url: string,
  message: { text: string; idempotencyKey: string; signal: AbortSignal },
): Promise<EgressResponse> {
  return egress.request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': message.idempotencyKey },
    body: JSON.stringify({ text: message.text }),
    maxResponseBytes: 256 * 1024,
    signal: message.signal,
  });
}

/** Anyone who knows the path of an incoming webhook can post to it, and the service behind it may repeat the path. */
function secretOf(url: string): SecretCutter {
  const path = URL.parse(url)?.pathname ?? '/';
  if (path === '/') return createSecretCutter([]);
  return createSecretCutter([path, path.slice(1), path.split('/').at(-1) ?? '']);
}

/** Posts `{text}` to an incoming webhook: `webhook_url`, or the configured default. Output `{delivered, status}`. */
export function createSendChatMessage(
  egress: Egress,
  defaultUrl: string | undefined,
): NodeRunner<ToolNode> {
  return withAddresses(async (call) => {
    const { text, webhook_url: given } = parseParams(
      'send_chat_message',
      sendChatMessageParams,
      call.params,
    );
    const url = given ?? defaultUrl;
    if (url === undefined) {
      throw new NodeError(
        'send_chat_message: no webhook_url given and CHAT_WEBHOOK_URL is not set',
        {
          retryable: false,
        },
      );
    }
    return callOutside(call.signal, async () => {
      const answer = await postChatMessage(egress, url, { ...call, text });
      if (!isSuccess(answer.status)) throw statusFailure(answer, secretOf(url).text);
      return { output: { delivered: true, status: answer.status }, costMicros: 0 };
    });
  });
}
