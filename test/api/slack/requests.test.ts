import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { signedForm } from '#test/fakes/slack-server.ts';
import { SIGNING_SECRET, textsOf } from '#test/support/slack-world.ts';
import { useSlack } from './slack-stage.ts';

const stage = useSlack();
const { asked, person, hears } = stage;
const decidedIn = async (runId: string) =>
  stage.engine.db.oneFirst(sql.unsafe`
    SELECT count(*)::int FROM audit_log WHERE target_id = ${runId} AND action IN ('approve', 'reject')`);

describe('a request', () => {
  test('with another signature, of another team, or too old gets the same 401', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'approve', ann.user);
    const payload = stage.client.submission(opened, ann.user);
    const form = signedForm(payload, { secret: SIGNING_SECRET });
    const old = Date.now() - 301_000;
    const headers = (change: object) => ({ ...form, headers: { ...form.headers, ...change } });
    const refused = [
      signedForm(payload, { secret: 'another-secret-of-a-team' }),
      signedForm({ ...payload, team: { id: 'T0OTHER' } }, { secret: SIGNING_SECRET }),
      signedForm(payload, { secret: SIGNING_SECRET, at: old }),
      signedForm(payload, { secret: SIGNING_SECRET, at: Date.now() + 400_000 }),
      headers({ 'x-slack-signature': 'v0=' }),
      headers({ 'x-slack-signature': form.headers['x-slack-signature']!.toUpperCase() }),
      headers({ 'x-slack-request-timestamp': 'now' }),
      { ...form, body: `${form.body}&more=1` },
      { ...form, body: 'payload=%7B' },
      { ...form, body: '' },
    ];
    const answers = await Promise.all(refused.map(stage.post));
    const [first] = answers;
    expect(first!.status).toBe(401);
    const withoutId = ({ status, text }: { status: number; text: string }) => [
      status,
      JSON.parse(text).detail,
    ];
    expect(answers.map(withoutId)).toEqual(refused.map(() => withoutId(first!)));
    expect(await decidedIn(runId)).toBe(0);
    expect((await stage.post(form)).status).toBe(200);
    expect(await decidedIn(runId)).toBe(1);
  }, 60_000);

  test('counts once: a replay is acknowledged, and changes nothing', async () => {
    const ann = await person();
    const { runId, message } = await asked({ required: 2 });
    const opened = await stage.client.open(message, 'approve', ann.user);
    const form = signedForm(stage.client.submission(opened, ann.user), { secret: SIGNING_SECRET });
    const first = await stage.post(form);
    expect(JSON.parse(first.text)).toEqual({ response_action: 'clear' });
    const again = await stage.post(form);
    expect([again.status, again.text]).toEqual([200, '']);
    expect(await decidedIn(runId)).toBe(1);
  }, 60_000);

  test('must be a form of a limited size', async () => {
    const json = { ...signedForm({}, { secret: SIGNING_SECRET }) };
    json.headers = { ...json.headers, 'content-type': 'application/json' };
    expect((await stage.post(json)).status).toBe(415);
    const large = signedForm({ text: 'x'.repeat(600_000) }, { secret: SIGNING_SECRET });
    expect((await stage.post(large)).status).toBe(413);
  });

  test('of another kind is acknowledged, and does nothing', async () => {
    const payload = { type: 'view_closed', team: { id: 'T0TEAM' }, user: { id: 'U1' } };
    const answer = await stage.client.send(payload);
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  test('with a button of another run finds no gate', async () => {
    const ann = await person();
    const [one, other] = [await asked(), await asked()];
    const click = stage.client.click(one.message, 'approve', ann.user);
    const { value } = stage.client.click(other.message, 'approve', ann.user).actions[0] as any;
    await stage.client.send({ ...click, actions: [{ action_id: 'approve', value }] });
    expect(await hears(ann.user)).toContain('no longer about an open gate');
  }, 60_000);
});

describe('a person in Slack', () => {
  const refusals: [string, object, string][] = [
    ['who is no member', { email: 'nobody@example.com' }, 'No active member'],
    ['with an unconfirmed email', { is_email_confirmed: false }, 'is not confirmed'],
    ['who is a bot', { is_bot: true }, 'Only full members'],
    ['who was deleted', { deleted: true }, 'Only full members'],
    ['who is a guest', { is_restricted: true }, 'Only full members'],
    ['who is a guest of one channel', { is_ultra_restricted: true }, 'Only full members'],
    ['of another team', { team_id: 'T0OTHER' }, 'Only full members'],
    ['who is a stranger', { is_stranger: true }, 'Only full members'],
  ];
  test.each(refusals)(
    '%s gets an answer that only they see',
    async (_who, account, text) => {
      const ann = await person();
      const { runId, message } = await asked();
      const user = stage.slack.addUser({ email: `${ann.id}@example.com`, ...account });
      await stage.client.send(stage.client.click(message, 'approve', user));
      expect(await hears(user)).toContain(text);
      const opened = await stage.client.open(message, 'approve', ann.user);
      const answer = await stage.client.send(stage.client.submission(opened, user));
      expect(textsOf(JSON.parse(answer.text).view)).toContain(text);
      expect(await decidedIn(runId)).toBe(0);
    },
    60_000,
  );

  test('of a team that shares the channel decides nothing, although the request is signed', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const click = stage.client.click(message, 'approve', ann.user);
    await stage.client.send({ ...click, user: { id: ann.user, team_id: 'T0OTHER' } });
    expect(await hears(ann.user)).toContain('Only full members');
    expect(await decidedIn(runId)).toBe(0);
  }, 60_000);

  test('without the permission is refused by name', async () => {
    const ann = await person({ role: 'viewer' });
    const { message } = await asked();
    await stage.client.send(stage.client.click(message, 'approve', ann.user));
    expect(await hears(ann.user)).toContain('approve_gates');
  }, 60_000);

  test('of the other workspace with the same address is no member here', async () => {
    const { message } = await asked();
    await stage.engine.db.query(sql.unsafe`
      INSERT INTO workspaces (id, name) VALUES ('ws_slack_other', 'Other') ON CONFLICT DO NOTHING`);
    await stage.engine.db.query(sql.unsafe`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      VALUES ('mem_slack_other', 'ws_slack_other', 'Zoe', 'zoe@slack.example', 'admin', 'active')`);
    const user = stage.slack.addUser({ email: 'zoe@slack.example' });
    await stage.client.send(stage.client.click(message, 'approve', user));
    expect(await hears(user)).toContain('No active member');
  }, 60_000);
});
