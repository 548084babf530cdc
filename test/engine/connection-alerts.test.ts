import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { alertTexts } from '#shared/contract/alerts/alerts.ts';
import { sql } from '#shared/db/pool.ts';
import { callerOf, type TestApi } from '#test/api/test-api.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import {
  CONNECTION_ENV,
  type ConnectionWorld,
  startConnectionWorld,
  withToken,
} from '#test/support/connection-world.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { addMember, type Person } from '#test/support/people.ts';

let chat: FakeServer;
let mail: MailServer;
let engine: Engine;
let app: App;
let call: TestApi['call'];
let world: ConnectionWorld;
let ann: Person;
beforeAll(async () => {
  chat = await startHttpServer((_request, response) => sendJson(response, 200, {}));
  mail = await startMailServer();
  engine = await startEngine({
    env: {
      ...CONNECTION_ENV,
      CHAT_WEBHOOK_URL: `${chat.url}/hook`,
      EMAIL_API_KEY: 're_key',
      EMAIL_API_URL: mail.url,
    },
  });
  app = buildApp(engine.deps);
  await app.ready();
  call = callerOf(app);
  world = await startConnectionWorld(call);
  ann = await addMember({ call }, { role: 'editor', name: 'Ann' });
}, 60_000);
afterAll(async () => {
  await app.close();
  await engine.close();
  await Promise.all([world.close(), chat.close(), mail.close()]);
});

test('a sign-in that the service no longer accepts is reported once, to its member or the workspace', async () => {
  const own = await world.connect('MAIL', { owner: 'member' });
  const shared = await world.connect('BOT');
  expect(await world.signIn(own, ann.headers)).toContain('result=connected');
  expect(await world.signIn(shared)).toContain('result=connected');
  await world.server.revokeAll();
  await engine.db.query(sql.unsafe`
    UPDATE connection_tokens SET expires_at = now() - interval '1 s', refresh_at = now() - interval '1 s'`);
  for (const [name, headers] of [['MAIL', ann.headers], ['BOT'], ['BOT']] as const) {
    const workflow = await engine.define({
      nodes: [withToken(name, world.target.url)],
      edges: [],
    });
    const started = await call('POST', `/api/workflows/${workflow}/runs`, {}, headers);
    if (headers === undefined) {
      const { error } = await engine.ended(started.body.id);
      expect(error).toContain(`Sign in to the connection '${name}' again`);
    } else {
      await eventually(async () => (await engine.run(started.body.id)).waiting.length === 1);
      await engine.cancel(started.body.id);
    }
  }
  const asked = ({ seen }: { seen: readonly { body: string }[] }) =>
    seen.map(({ body }) => body).filter((body) => body.includes('no longer accepts the sign-in'));
  await eventually(() => asked(chat).length > 0 && asked(mail).length > 0);
  expect([asked(chat).length, asked(mail).length]).toEqual([1, 1]);
  const text = (id: string) => `http://ops.test/connections?connection=${id}`;
  expect(asked(chat)[0]).toContain(text(shared));
  expect(JSON.parse(asked(mail)[0]!)).toMatchObject({
    to: [ann.email],
    subject: expect.stringContaining('Sign in again - MAIL'),
    text: expect.stringContaining(text(own)),
  });
});

test('a member who has never signed in gets one email for all steps that wait', async () => {
  const id = await world.connect('FIRST', { owner: 'member' });
  const nodes = ['one', 'two'].map((step) => withToken('FIRST', world.target.url, { id: step }));
  const workflow = await engine.define({ nodes, edges: [] });
  const started = await call('POST', `/api/workflows/${workflow}/runs`, {}, ann.headers);
  await eventually(async () => (await engine.run(started.body.id)).waiting.length === 2);
  const sent = () => mail.seen.map(({ body }) => body).filter((body) => body.includes('FIRST'));
  await eventually(() => sent().length > 0);
  await eventually(
    async () => !(await engine.db.exists(sql.unsafe`SELECT FROM outbox WHERE kind = 'alert'`)),
  );
  expect(sent().map((body) => JSON.parse(body))).toMatchObject([
    {
      to: [ann.email],
      subject: expect.stringContaining('Sign in - FIRST'),
      text: expect.stringMatching(
        new RegExp(
          `^Run ${started.body.id} of 'test' waits at '(one|two)' until you sign in .*\n` +
            `http://ops.test/connections.connection=${id}$`,
        ),
      ),
    },
  ]);
  expect(chat.seen.filter(({ body }) => body.includes('FIRST'))).toEqual([]);
  await engine.cancel(started.body.id);
});

test('the alert says which connection it is, and where to sign in', () => {
  const about = { workspace_id: 'ws_1', connection_id: 'con_1', connection_name: 'MAIL' };
  const alert = { event: 'connection', ...about, member_id: null } as const;
  expect(alertTexts(alert, 'https://ops.example')).toMatchObject({
    subject: '[Durable workflows] Sign in again - MAIL',
    body: expect.stringMatching(
      /^The service of the connection 'MAIL' .*\nhttps:\/\/ops\.example\/connections\?connection=con_1$/,
    ),
  });
});
