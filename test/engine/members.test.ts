import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { takeDueInvitations } from '#shared/db/people/invitations.ts';
import { sql } from '#shared/db/pool.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import { type Engine, eventually, mock, startEngine } from '#test/support/engine.ts';
import { addMember, invite, PASSWORD } from '#test/support/people.ts';
import { callerOf, type TestApi } from '#test/api/test-api.ts';
import { soakTest } from '#test/support/soak.ts';

let engine: Engine;
let app: App;
let api: Pick<TestApi, 'call'>;
const start = async (options: Parameters<typeof startEngine>[0]) => {
  engine = await startEngine(options);
  app = buildApp(engine.deps);
  await app.ready();
  api = { call: callerOf(app) };
};
const stop = async () => {
  await app.close();
  await engine.close();
};

describe('the stats of a member', () => {
  beforeAll(async () => start({}));
  afterAll(stop);

  test('show their runs, decisions and costs, during and after the counting', async () => {
    const [ann, bob] = [
      await addMember(api, { role: 'editor' }),
      await addMember(api, { role: 'editor' }),
    ];
    const post = async (url: string, body: unknown, by = ann) => {
      const answer = await api.call('POST', url, body, by.headers);
      if (answer.status >= 300) throw new Error(`${url} answered ${answer.text}`);
      return answer.body;
    };
    const graph = {
      nodes: [
        mock('before', { cost_usd: 0.25 }),
        { id: 'gate', kind: 'human_gate', prompt: 'Go on?' },
        mock('after', { cost_usd: 0.5 }),
      ],
      edges: [
        { source: 'before', target: 'gate' },
        { source: 'gate', target: 'after', condition_value: 'true' },
      ],
    };
    const { id } = await post('/api/workflows', { name: 'x', graph });
    const runs = [];
    for (let n = 0; n < 2; n += 1) runs.push((await post(`/api/workflows/${id}/runs`, {})).id);
    for (const [n, runId] of runs.entries()) {
      await engine.until(runId, ['paused']);
      await post(`/api/runs/${runId}/approve`, { approved: n === 0 }, bob);
      await engine.until(runId, n === 0 ? ['success'] : ['failed']);
    }
    const statsOf = async (person: typeof ann) => {
      const { body } = await api.call('GET', `/api/members/${person.id}/stats`);
      return body;
    };
    const expected = {
      runs_triggered: 2,
      approvals: 0,
      rejections: 0,
      workflows_created: 1,
      total_cost_usd: 1,
    };
    for (let look = 0; look < 20; look += 1) {
      expect(await statsOf(ann)).toMatchObject(expected);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const waits = z.object({ n: z.number() });
    await eventually(
      async () =>
        (await engine.db.oneFirst(sql.type(waits)`
          SELECT (SELECT count(*) FROM audit_unsealed) + (SELECT count(*) FROM usage_deltas) AS n`)) ===
        0,
    );
    const annsStats = await statsOf(ann);
    expect(annsStats).toMatchObject(expected);
    // Accepting the invitation, the workflow, two runs.
    expect(annsStats.activity.at(-1).count).toBe(4);
    expect(annsStats.recent_actions.map((each: any) => each.action)).toEqual([
      'run',
      'run',
      'create',
      'accept_invite',
    ]);
    expect(await statsOf(bob)).toMatchObject({
      runs_triggered: 0,
      approvals: 1,
      rejections: 1,
      total_cost_usd: 0,
    });
    // The cost of a run stays after its deletion.
    expect((await api.call('DELETE', `/api/workflows/${id}`)).status).toBe(204);
    expect(await statsOf(ann)).toMatchObject(expected);
  }, 30_000);
});

describe('email invitations', () => {
  let mail: MailServer;
  const env = () => ({
    EMAIL_API_KEY: 're_test',
    EMAIL_API_URL: mail.url,
    ENCRYPTION_KEY: 'a key of this test and of nothing else',
  });
  /** The idempotency key of the email with a code. */
  const keyOf = (memberId: string, code: string): string =>
    `invitation/${memberId}/${createHash('sha256').update(code).digest('hex').slice(0, 16)}`;
  beforeEach(async () => {
    mail = await startMailServer();
  });
  afterEach(async () => {
    await stop();
    await mail.close();
  });

  const due = async (): Promise<number> =>
    engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM members WHERE invite_mail_due_at IS NOT NULL`);
  const hurry = async () =>
    engine.db.query(sql.unsafe`
      UPDATE members SET invite_mail_due_at = now() WHERE invite_mail_due_at IS NOT NULL`);
  const mailed = () => mail.seen.map((each) => JSON.parse(each.body));
  const quiet = () => new Promise((resolve) => setTimeout(resolve, 400));

  test('are sent once by two workers, with the workspace, address and code', async () => {
    await start({ env: { ...env(), PUBLIC_URL: 'https://flows.example.com' } });
    await engine.startWorker();
    await api.call('PUT', '/api/workspace', { name: 'Support\nBcc: all@example.com' });
    const people = [];
    for (let n = 0; n < 25; n += 1) people.push(await invite(api, { role: 'viewer' }));
    await eventually(async () => (await due()) === 0);
    await quiet();
    expect(
      mailed()
        .map((each) => each.to[0])
        .sort(),
    ).toEqual(people.map((each) => each.email).sort());
    const [first] = people;
    const sent = mail.seen.find((each) => each.body.includes(first?.email ?? ''));
    expect(sent?.headers['idempotency-key']).toBe(keyOf(first?.id ?? '', first?.code ?? ''));
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      to: [first?.email],
      subject: '[Durable workflows] Invitation to Support Bcc: all@example.com',
      text:
        "You are invited to the workspace 'Support Bcc: all@example.com' at https://flows.example.com. " +
        `Your invite code, which works once: ${first?.code}`,
    });
  }, 30_000);

  soakTest('are retried with growing pauses and one key while the provider is down', async () => {
    await start({ env: env() });
    mail.refusal = { status: 503, body: { message: 'away' } };
    const { id, code, email } = await invite(api, { role: 'viewer' });
    await eventually(() => mail.seen.length === 1);
    const pause = async () =>
      engine.db.oneFirst(sql.type(z.object({ seconds: z.number() }))`
        SELECT round(extract(epoch FROM invite_mail_due_at - now())) AS seconds FROM members WHERE id = ${id}`);
    await eventually(async () => (await pause()) <= 10);
    for (const seconds of [20, 40]) {
      const before = mail.seen.length;
      await hurry();
      await eventually(() => mail.seen.length > before);
      await eventually(async () => Math.abs((await pause()) - seconds) <= 1);
    }
    mail.refusal = undefined;
    await hurry();
    await eventually(async () => (await due()) === 0);
    expect(mail.seen.map((each) => each.headers['idempotency-key'])).toEqual(
      Array(4).fill(keyOf(id, code)),
    );
    expect(mailed().at(-1)).toMatchObject({ to: [email], text: expect.stringContaining(code) });
  });

  soakTest('stop after eight failed attempts, and the code still works', async () => {
    await start({ env: env() });
    mail.refusal = { status: 422, body: { message: 'no such address' } };
    const { code } = await invite(api, { role: 'viewer' });
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await eventually(() => mail.seen.length >= attempt);
      await eventually(async () => {
        await hurry();
        return mail.seen.length > attempt || (await due()) === 0;
      });
    }
    expect(await due()).toBe(0);
    await quiet();
    expect(mail.seen).toHaveLength(8);
    const accept = { invite_code: code, password: PASSWORD };
    expect((await api.call('POST', '/api/auth/accept-invite', accept)).status).toBe(200);
  });

  test('are not sent once accepted or withdrawn', async () => {
    await start({ worker: false, env: env() });
    const withdrawn = await invite(api, { role: 'viewer' });
    expect((await api.call('DELETE', `/api/members/${withdrawn.id}`)).status).toBe(204);
    await addMember(api, { role: 'viewer' });
    const last = await invite(api, { role: 'viewer' });
    await engine.startWorker();
    await eventually(async () => (await due()) === 0);
    await quiet();
    expect(mailed().map((each) => each.to)).toEqual([[last.email]]);
  }, 30_000);

  soakTest('taken but not sent by a dead worker are sent by another one', async () => {
    await start({ worker: false, env: env() });
    const { id, email } = await invite(api, { role: 'viewer' });
    expect(await takeDueInvitations(engine.db, 10)).toMatchObject([{ member_id: id, attempt: 1 }]);
    await engine.startWorker();
    await quiet();
    expect(mail.seen).toHaveLength(0);
    const seconds = await engine.db.oneFirst(sql.type(z.object({ seconds: z.number() }))`
      SELECT extract(epoch FROM invite_mail_due_at - now()) AS seconds FROM members WHERE id = ${id}`);
    expect(seconds).toBeGreaterThan(30);
    // The lease ends.
    await hurry();
    await eventually(async () => (await due()) === 0);
    expect(mailed().map((each) => each.to)).toEqual([[email]]);
  });

  soakTest('are sent without an encryption key, and the stored code is then deleted', async () => {
    await start({ worker: false, env: { ...env(), ENCRYPTION_KEY: '' } });
    const { id, code } = await invite(api, { role: 'viewer' });
    const kept = async () =>
      engine.db.oneFirst(sql.type(z.object({ row: z.string() }))`
        SELECT to_jsonb(m)::text AS row FROM members m WHERE id = ${id}`);
    expect(await kept()).toContain(code);
    expect((await api.call('GET', `/api/members/${id}`)).body.invite_code).toBeNull();
    await engine.startWorker();
    await eventually(async () => (await due()) === 0);
    expect(mailed()).toMatchObject([{ text: expect.stringContaining(code) }]);
    expect(await kept()).not.toContain(code);
    const accept = { invite_code: code, password: PASSWORD };
    expect((await api.call('POST', '/api/auth/accept-invite', accept)).status).toBe(200);
  });

  soakTest('are sent again with each new code, also during an earlier attempt', async () => {
    await start({ env: env() });
    mail.refusal = { status: 503, body: { message: 'away' } };
    const { id, code } = await invite(api, { role: 'viewer' });
    await eventually(() => mail.seen.length === 1);
    const raised = await api.call('PATCH', `/api/members/${id}`, { role: 'editor' });
    mail.refusal = undefined;
    await eventually(async () => (await due()) === 0);
    const renewed = await api.call('POST', `/api/members/${id}/invite`);
    await eventually(async () => (await due()) === 0);
    const codes = [code, raised.body.invite_code, renewed.body.invite_code];
    expect(new Set(codes).size).toBe(3);
    const keys = mail.seen.map((each) => each.headers['idempotency-key']);
    expect(keys[0]).toBe(keyOf(id, codes[0]));
    expect(keys.slice(-2)).toEqual([keyOf(id, codes[1]), keyOf(id, codes[2])]);
    expect(mailed().at(-1).text).toContain(codes[2]);
  });

  soakTest('verify an approved address; its first password never works', async () => {
    await start({ env: env() });
    const email = 'sam@example.com';
    const signUp = { name: 'Sam', email, password: 'chosen by whoever' };
    const { id } = (await api.call('POST', '/api/auth/signup', signUp)).body;
    const login = async (password: string) =>
      (await api.call('POST', '/api/auth/login', { email, password })).status;
    expect(await login(signUp.password)).toBe(403);
    const approved = await api.call('POST', `/api/members/${id}/approve`);
    expect([approved.status, approved.body]).toMatchObject([
      200,
      { status: 'active', invite_code: null, invite_expires_at: null },
    ]);
    expect((await api.call('GET', '/api/audit?limit=1')).body.logs).toMatchObject([
      { action: 'approve_member', details: { address: 'code_mailed' } },
    ]);
    expect(await login(signUp.password)).toBe(401);
    await eventually(() => mail.seen.length === 1);
    // A caller who manages members can have it mailed again, but does not get the code.
    const again = await api.call('POST', `/api/members/${id}/invite`);
    expect([again.status, again.body.invite_code]).toEqual([200, null]);
    await eventually(() => mail.seen.length === 2);
    const codes = mailed().map(({ to, subject, text }) => {
      expect([to, subject]).toEqual([
        [email],
        '[Durable workflows] Your request to join Default was approved',
      ]);
      return /inv_\w+/.exec(text)?.[0];
    });
    const accept = (invite_code?: string) =>
      api.call('POST', '/api/auth/accept-invite', { invite_code, password: PASSWORD });
    expect((await accept(codes[0])).status).toBe(400);
    expect((await accept(codes[1])).body.member).toMatchObject({ id, status: 'active' });
    expect((await accept(codes[1])).status).toBe(400);
    expect([await login(PASSWORD), await login(signUp.password)]).toEqual([200, 401]);
    expect((await api.call('POST', `/api/members/${id}/invite`)).status).toBe(400);
  });

  test('are not queued without a provider', async () => {
    await start({ env: { ...env(), EMAIL_API_KEY: '' } });
    const { id, code } = await invite(api, { role: 'viewer' });
    expect(await due()).toBe(0);
    await quiet();
    expect(mail.seen).toHaveLength(0);
    const { body } = await api.call('GET', `/api/members/${id}`);
    expect(body.invite_code).toBe(code);
  }, 30_000);
});
