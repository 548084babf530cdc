import { Resend, type Response as ResendResponse } from 'resend';
import type { Config } from './config.ts';
import { retryAfterMs } from './calls/outside.ts';
import type { Egress } from './egress/egress.ts';
import { createSecretCutter } from './secrets/secret-cutter.ts';

export interface Mail {
  to: string[];
  subject: string;
  text?: string;
  html?: string;
  cc?: string[];
  bcc?: string[];
  replyTo?: string[];
}

export interface Mailer {
  /** Sends an email through the provider and returns its id. Throws MailError, or EgressError without a response. */
  send: (
    mail: Mail,
    options?: { idempotencyKey?: string; signal?: AbortSignal },
  ) => Promise<{ id: string }>;
}

/** The provider's error. `status` is its HTTP status; `retryAfterMs` is how long it asks to wait. */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly status: number;
  readonly retryAfterMs: number;

  constructor(status: number, message: string, retryAfterMs = 0) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const TIMEOUT_MS = 30_000;
/** Characters kept of the provider's text. */
const MAX_TEXT = 500;

/** Undefined when no key is configured: then email is disabled, and callers skip it or report it. */
export function createMailer(settings: Config['email'], egress: Egress): Mailer | undefined {
  const { apiKey, apiUrl, from } = settings;
  if (apiKey === undefined) return undefined;
  const cutter = createSecretCutter([apiKey]);
  return {
    send: async (mail, options = {}) => {
      const resend = new Resend(apiKey, {
        baseUrl: apiUrl.replace(/\/+$/, ''),
        userAgent: 'durable-workflows',
      });
      // The SDK calls the global fetch and turns every failure into one sentence. This implementation uses the egress
      // guard, can be aborted, and distinguishes a response from none.
      resend.fetchRequest = <T>(path: string, request: SdkRequest = {}) =>
        exchange<T>(egress, `${apiUrl.replace(/\/+$/, '')}${path}`, request, options.signal);
      const body = {
        text: mail.text ?? '',
        ...(mail.html === undefined ? {} : { html: mail.html }),
      };
      const { data, error, headers } = await resend.emails.send(
        {
          from,
          to: mail.to,
          subject: mail.subject,
          cc: mail.cc,
          bcc: mail.bcc,
          replyTo: mail.replyTo,
          ...body,
        },
        options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey },
      );
      if (error !== null) {
        const text = cutter.text(error.message).slice(0, MAX_TEXT);
        throw new MailError(error.statusCode ?? 500, text, retryAfterMs(headers?.['retry-after']));
      }
      return { id: cutter.text(data.id).slice(0, MAX_TEXT) };
    },
  };
}

interface SdkRequest {
  method?: string;
  headers?: Headers;
  body?: string;
}

async function exchange<T>(
  egress: Egress,
  url: string,
  request: SdkRequest,
  signal: AbortSignal | undefined,
): Promise<ResendResponse<T>> {
  const answer = await egress.request(url, {
    method: request.method,
    headers: Object.fromEntries(request.headers ?? []),
    body: request.body,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: 1024 * 1024,
    signal,
  });
  const { headers } = answer;
  const body = parseObject(answer.body.toString('utf8'));
  if (answer.status >= 200 && answer.status < 300) {
    if (typeof body['id'] === 'string') return { data: body as T, error: null, headers };
    throw new MailError(502, 'The mail provider responded without an id');
  }
  const message = typeof body['message'] === 'string' ? body['message'] : 'no reason given';
  return {
    data: null,
    error: { name: 'application_error', statusCode: answer.status, message },
    headers,
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
