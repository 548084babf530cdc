import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSendChatMessage } from '#activities/tools/send-chat-message.ts';
import { createSendEmail } from '#activities/tools/send-email.ts';
import type { JsonObject } from '#shared/json.ts';
import { createEgress, type Egress } from '#shared/platform/egress/egress.ts';
import { createMailer } from '#shared/platform/mailer.ts';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import { toolCall } from '#test/fakes/node-call.ts';

const KEY = 're_secret_key_123';
let mail: MailServer;
let chat: FakeServer;
let chatStatus: number;
let egress: Egress;

beforeEach(async () => {
  chatStatus = 200;
  mail = await startMailServer();
  chat = await startHttpServer(
    (_request, response) => void response.writeHead(chatStatus).end('chat says'),
  );
  egress = createEgress({ allow: ['127.0.0.1'] });
});
afterEach(async () => {
  await egress.close();
  await Promise.all([mail.close(), chat.close()]);
});

const sendEmail = (
  params: JsonObject,
  apiUrl = mail.url,
  rest: Parameters<typeof toolCall>[2] = {},
) => {
  const mailer = createMailer({ apiKey: KEY, apiUrl, from: 'Flows <flows@example.com>' }, egress);
  return createSendEmail(mailer)(toolCall('send_email', params, rest));
};
const letter = { to: 'a@example.com', subject: 'Hello', text: 'Body' };

describe('send_email', () => {
  it('sends the email once per idempotency key', async () => {
    const params = {
      ...letter,
      html: '<p>Body</p>',
      cc: ['c@example.com'],
      reply_to: 'Reply <r@example.com>',
    };
    const first = await sendEmail(params);
    expect(first).toEqual({ output: { id: 'mail-1' }, costMicros: 0 });
    expect(await sendEmail(params, `${mail.url}/`)).toEqual(first);
    const [seen] = mail.seen;
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'idempotency-key': 'run_1/step/0',
    });
    expect(JSON.parse(seen?.body ?? '')).toMatchObject({
      from: 'Flows <flows@example.com>',
      to: ['a@example.com'],
      cc: ['c@example.com'],
      reply_to: ['Reply <r@example.com>'],
      subject: 'Hello',
      text: 'Body',
      html: '<p>Body</p>',
    });
  });

  it.each([
    [
      422,
      { message: 'Invalid `to` field' },
      'The mail provider responded with 422: Invalid `to` field',
      false,
    ],
    [
      401,
      { message: `API key ${KEY} is invalid` },
      'The mail provider responded with 401: API key *** is invalid',
      false,
    ],
    [429, { message: 'slow down' }, 'The mail provider responded with 429: slow down', true],
    [500, 'oops', 'The mail provider responded with 500: no reason given', true],
    [
      200,
      {},
      'The mail provider responded with 502: The mail provider responded without an id',
      true,
    ],
  ])('fails on %d %j', async (status, body, message, retryable) => {
    mail.refusal = { status, body };
    await expect(sendEmail(letter)).rejects.toMatchObject({
      name: 'NodeError',
      message,
      retryable,
      definite: true,
    });
  });

  it('goes through the egress guard', async () => {
    await expect(sendEmail(letter, 'http://10.0.0.1')).rejects.toMatchObject({
      name: 'NodeError',
      message: "The address of '10.0.0.1' is not allowed",
      retryable: false,
    });
  });

  it('names the missing variable when no provider is configured', async () => {
    expect(
      createMailer({ apiKey: undefined, apiUrl: mail.url, from: 'x' }, egress),
    ).toBeUndefined();
    const wanted = createSendEmail(undefined)(toolCall('send_email', letter));
    await expect(wanted).rejects.toMatchObject({
      message: 'send_email: EMAIL_API_KEY is not set',
      retryable: false,
    });
  });

  it.each([
    [{ subject: 'x', text: 'x' }, "'to'"],
    [{ ...letter, to: 'nobody' }, "'to'"],
    [{ ...letter, to: [] }, "'to'"],
    [{ ...letter, to: 'a@example.com\r\nBcc: b@example.com' }, "'to'"],
    [{ ...letter, subject: 'a\r\nBcc: b@example.com' }, "'subject'"],
    [{ to: 'a@example.com', subject: 'x' }, "'text' or 'html'"],
    [{ ...letter, attachment: 'x' }, 'attachment'],
  ])('refuses %j permanently', async (params, message) => {
    await expect(sendEmail(params)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      retryable: false,
    });
    expect(mail.seen).toEqual([]);
  });

  it("ends with the signal's reason on abort", async () => {
    const reason = new Error('run cancelled');
    const wanted = sendEmail(letter, mail.url, { signal: AbortSignal.abort(reason) });
    await expect(wanted).rejects.toBe(reason);
  });
});

describe('send_chat_message', () => {
  const post = (params: JsonObject, url: string | undefined = chat.url) =>
    createSendChatMessage(egress, url)(toolCall('send_chat_message', params));

  it('posts to the webhook of the installation or a given one', async () => {
    expect(await post({ text: 'Hi *there*' })).toEqual({
      output: { delivered: true, status: 200 },
      costMicros: 0,
    });
    await post({ text: 7, webhook_url: `${chat.url}/mine` }, 'http://10.0.0.1/');
    expect(chat.seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/', '{"text":"Hi *there*"}'],
      ['POST', '/mine', '{"text":"7"}'],
    ]);
    expect(chat.seen[0]?.headers['idempotency-key']).toBe('run_1/step/0');
  });

  it('does not show the secret path when it fails', async () => {
    chatStatus = 404;
    const wanted = post({ text: 'x', webhook_url: `${chat.url}/services/T0/S3CRET` });
    await expect(wanted).rejects.toMatchObject({
      name: 'NodeError',
      message: `127.0.0.1:${chat.port} answered 404: chat says`,
      retryable: false,
      definite: true,
    });
    await expect(post({ text: 'x', webhook_url: 'http://10.0.0.1/S3CRET' })).rejects.not.toThrow(
      'S3CRET',
    );
  });

  it('names the missing variable when no webhook is configured', async () => {
    const wanted = createSendChatMessage(
      egress,
      undefined,
    )(toolCall('send_chat_message', { text: 'x' }));
    await expect(wanted).rejects.toMatchObject({
      message: expect.stringContaining('CHAT_WEBHOOK_URL'),
      retryable: false,
    });
  });
});
