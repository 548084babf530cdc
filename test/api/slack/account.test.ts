import { expect, test } from '@jest/globals';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { sql } from '#shared/db/pool.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { eventually } from '#test/support/engine.ts';
import { textsOf } from '#test/support/slack-world.ts';
import { useSlack } from './slack-stage.ts';

const stage = useSlack();
const { asked, person, stranger, hears } = stage;
const URL_OF = '/api/slack/account';
const T = 'T0TEAM';

/** Calls as this member, who is signed in. */
async function signedIn(id: string) {
  const tokens = createSessionTokens(stage.engine.deps.config.auth.secretKey);
  const { token } = await tokens.issue({ memberId: id, epoch: 1 });
  return (method: string, url: string, body?: unknown) =>
    stage.call(method, url, body, { authorization: `Bearer ${token}` });
}
const clicks = async (message: any, user: string) =>
  stage.client.send(stage.client.click(message, 'approve', user));
const asksFor = async (id: string, user: string) => {
  const call = await signedIn(id);
  await eventually(async () => (await call('GET', URL_OF)).body.asked?.user_id === user, 20_000);
};

test('an account decides as a member only after they have confirmed it, signed in', async () => {
  const ann = await stranger({}, { real_name: 'Ann\u0000 Lee' });
  const call = await signedIn(ann.id);
  const { runId, message } = await asked();
  expect((await call('GET', URL_OF)).body).toEqual({ confirmed: null, asked: null });
  await clicks(message, ann.user);
  expect(await hears(ann.user)).toContain(
    'confirm once that this Slack account is yours, then click again: https://ops.example.com/account',
  );
  // A dialog that someone else has opened does not help.
  const ben = await person();
  const opened = await stage.client.open(message, 'approve', ben.user);
  const answer = await stage.client.send(stage.client.submission(opened, ann.user));
  expect(textsOf(JSON.parse(answer.text).view)).toContain('confirm once');

  const own = (await call('GET', URL_OF)).body;
  const account = { team_id: T, user_id: ann.user, name: 'Ann Lee' };
  expect(own).toEqual({ confirmed: null, asked: { ...account, asked_at: expect.any(String) } });
  const body = { team_id: T, user_id: ann.user };
  const confirmed = await call('POST', URL_OF, body);
  expect([confirmed.status, confirmed.body]).toEqual([
    200,
    { confirmed: { ...account, confirmed_at: expect.any(String) }, asked: null },
  ]);
  // The answer may have been lost.
  expect((await call('POST', URL_OF, body)).body).toEqual(confirmed.body);
  const again = await stage.client.open(message, 'approve', ann.user);
  await stage.client.send(stage.client.submission(again, ann.user));
  await stage.engine.until(runId, ['success']);
  const { body: audit } = await stage.call('GET', `/api/audit?target_id=${ann.id}`);
  expect(audit.logs).toMatchObject([
    { action: 'slack_confirm', actor_id: ann.id, details: account },
  ]);
}, 60_000);

test('another account with the email of a member neither decides as them nor replaces theirs', async () => {
  const ann = await person();
  const call = await signedIn(ann.id);
  const { runId, message } = await asked();
  const opened = await stage.client.open(message, 'approve', ann.user);
  // Administrators of the Slack can give an account the email of a member.
  const forged = stage.slack.addUser({ email: `${ann.id}@example.com`, real_name: 'Ann' });
  await clicks(message, forged);
  expect(await hears(forged)).toContain('confirm once');
  const answer = await stage.client.send(stage.client.submission(opened, forged));
  expect(textsOf(JSON.parse(answer.text).view)).toContain('confirm once');
  const { status } = (await stage.call('GET', `/api/runs/${runId}/gates/review`)).body;
  expect(status).toBe('open');
  expect((await call('GET', URL_OF)).body).toMatchObject({
    confirmed: { user_id: ann.user },
    asked: { user_id: forged },
  });
  await stage.client.send(stage.client.submission(opened, ann.user));
  await stage.engine.until(runId, ['success']);
}, 60_000);

test('an account that is removed, or asked too long ago, has to ask again', async () => {
  const ann = await person();
  const call = await signedIn(ann.id);
  const { message } = await asked();
  expect((await call('DELETE', URL_OF)).status).toBe(204);
  expect((await call('DELETE', URL_OF)).status).toBe(204);
  const body = { team_id: T, user_id: ann.user };
  const refused = await call('POST', URL_OF, body);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'This account has not asked in the last 24 hours; click a button in Slack with it first',
  ]);
  await clicks(message, ann.user);
  await asksFor(ann.id, ann.user);
  await stage.engine.db.query(sql.unsafe`
    UPDATE slack_people SET asked_at = now() - interval '25 hours' WHERE member_id = ${ann.id}`);
  expect((await call('GET', URL_OF)).body).toEqual({ confirmed: null, asked: null });
  expect((await call('POST', URL_OF, body)).status).toBe(409);
  await clicks(message, ann.user);
  await asksFor(ann.id, ann.user);
  expect((await call('POST', URL_OF, { ...body, user_id: 'U0OTHER' })).status).toBe(409);
  expect((await call('POST', URL_OF, { ...body, team_id: 'T0OTHER' })).status).toBe(409);
  expect((await call('POST', URL_OF, body)).status).toBe(200);
}, 60_000);

test('neither a key of the member nor another member can confirm it', async () => {
  const ann = await stranger();
  const { message } = await asked();
  await clicks(message, ann.user);
  await asksFor(ann.id, ann.user);
  const body = { team_id: T, user_id: ann.user };
  const { workspaceId } = stage.engine.actor;
  const ben = await addCaller({ db: stage.engine.db, workspaceId }, { role: 'admin' });
  expect((await (await signedIn(ben.id))('POST', URL_OF, body)).status).toBe(409);
  const key = { 'x-api-key': `ops_${ann.id}` };
  for (const method of ['POST', 'DELETE'] as const) {
    const refused = await stage.call(method, URL_OF, method === 'POST' ? body : undefined, key);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      'Only a member who is signed in can change which account of Slack is theirs',
    ]);
  }
  expect((await stage.call('GET', URL_OF, undefined, key)).body).toMatchObject({
    confirmed: null,
    asked: { user_id: ann.user },
  });
}, 60_000);
