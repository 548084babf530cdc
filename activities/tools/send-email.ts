import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { MailError, type Mailer } from '#shared/platform/mailer.ts';
import { callOutside, isRetryableStatus } from '#shared/platform/calls/outside.ts';
import { NodeError, type NodeRunner } from '#activities/nodes/node.ts';
import { withAddresses } from '#activities/step-secrets.ts';
import { parseParams } from './params.ts';

// The provider validates addresses. This only rejects what could become another header.
const address = z
  .string()
  .trim()
  .min(3)
  .max(320)
  .regex(/^[^\r\n\0]+@[^\r\n\0]+$/, 'must be an email address');
const recipients = z.union([address.transform((one) => [one]), z.array(address).min(1).max(50)]);
const optional = recipients.nullish().transform((list) => list ?? undefined);
const line = z
  .string()
  .min(1)
  .max(998)
  .regex(/^[^\r\n\0]*$/, 'must be a single line');

export const sendEmailParams = z
  .strictObject({
    to: recipients,
    subject: line,
    text: z.string().nullish(),
    html: z.string().nullish(),
    cc: optional,
    bcc: optional,
    reply_to: optional,
  })
  .refine((mail) => mail.text != null || mail.html != null, "needs 'text' or 'html'");

/** `{to, subject, text | html, cc?, bcc?, reply_to?}` to `{id}`; address fields take one address or a list. */
export function createSendEmail(mailer: Mailer | undefined): NodeRunner<ToolNode> {
  return withAddresses(async (call) => {
    if (mailer === undefined) {
      throw new NodeError('send_email: EMAIL_API_KEY is not set', { retryable: false });
    }
    const mail = parseParams('send_email', sendEmailParams, call.params);
    const message = {
      to: mail.to,
      subject: mail.subject,
      text: mail.text ?? undefined,
      html: mail.html ?? undefined,
      cc: mail.cc,
      bcc: mail.bcc,
      replyTo: mail.reply_to,
    };
    return callOutside(call.signal, async () => {
      try {
        const { id } = await mailer.send(message, {
          idempotencyKey: call.idempotencyKey,
          signal: call.signal,
        });
        return { output: { id }, costMicros: 0 };
      } catch (error) {
        if (!(error instanceof MailError)) throw error;
        throw new NodeError(`The mail provider responded with ${error.status}: ${error.message}`, {
          retryable: isRetryableStatus(error.status),
          definite: true,
          retryAfterMs: error.retryAfterMs,
          cause: error,
        });
      }
    });
  });
}
