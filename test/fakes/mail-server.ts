import { type FakeServer, sendJson, startHttpServer } from './http-server.ts';

export interface MailServer extends FakeServer {
  /** If set, the next mails are refused with this response. */
  refusal: { status: number; body: unknown } | undefined;
}

/** Accepts mails at `POST /emails` like Resend, and responds to a repeated idempotency key with the first id. */
export async function startMailServer(): Promise<MailServer> {
  const ids = new Map<string, string>();
  let sent = 0;
  const server = await startHttpServer((request, response) => {
    if (fake.refusal !== undefined) {
      return sendJson(response, fake.refusal.status, fake.refusal.body);
    }
    if (request.method !== 'POST' || request.url !== '/emails') {
      return sendJson(response, 404, { message: 'no route' });
    }
    const key = String(request.headers['idempotency-key'] ?? `none-${sent}`);
    const id = ids.get(key) ?? `mail-${(sent += 1)}`;
    ids.set(key, id);
    sendJson(response, 200, { id });
  });
  const fake: MailServer = { ...server, refusal: undefined };
  return fake;
}
