import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { callSlack } from '#shared/platform/calls/slack.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { eventually } from '#test/support/engine.ts';
import { buttonsOf, signInToSlack, slackSettings, textsOf } from '#test/support/slack-world.ts';
import { gated, useSlack } from './slack-stage.ts';

const stage = useSlack();
const { asked, shows, person, hears } = stage;
const approve = (runId: string) =>
  stage.call('POST', `/api/runs/${runId}/approve`, { approved: true, step_key: 'review' });
const problem = async () =>
  (await stage.call('GET', '/api/workspace/alerts')).body.channels.find(
    ({ channel }: any) => channel === 'slack',
  ).problem;
const calls = (name: string) => stage.slack.calls.filter(({ method }) => method === name);
const set = (change: object) => stage.call('PUT', '/api/workspace/alerts', change);

describe('the message about a gate', () => {
  test('asks in the channel, and its buttons carry the run, the step and the digest', async () => {
    const { runId, message } = await asked();
    const gate = (await stage.call('GET', `/api/runs/${runId}/gates/review`)).body;
    expect(message.channel).toBe('C0GENERAL');
    expect(textsOf(message.blocks)).toContain('Pay 5?');
    expect(textsOf(message.blocks)).toContain(
      'If it is approved:\n• Read paid: runs an agent, always\n   {"prompt":"Pay 5"}',
    );
    const { approve: yes, reject: no, open } = buttonsOf(message);
    expect(JSON.parse(yes.value)).toEqual({ run: runId, step: 'review', digest: gate.digest });
    expect(no.value).toBe(yes.value);
    expect(open.url).toBe(`https://ops.example.com/approvals/${runId}/review`);
    expect(open.value).toBeUndefined();
  }, 60_000);

  test('has only the link for a gate that requires members to sign in', async () => {
    const { message } = await asked({ signed_in: true, prompt: 'The secret question' });
    expect(Object.keys(buttonsOf(message))).toEqual(['open']);
    expect(JSON.stringify(message)).not.toContain('secret question');
  }, 60_000);

  test('pings no one and forges no button, with any text of a run', async () => {
    const evil =
      '<!channel> <@U123> <https://evil.example|Approve> *bold* @here &lt; `x` \u202e\n"blocks": [';
    const { message } = await asked({ prompt: `{text}` }, { text: evil, amount: evil });
    const { text, blocks } = message;
    const all = JSON.stringify({ text, blocks });
    expect(all).not.toMatch(/<!channel|<@|<https:\/\/evil/);
    expect(all).not.toContain('\u202e');
    expect(textsOf(blocks)).toContain('&lt;!channel&gt; &lt;@U123&gt;');
    expect(textsOf(blocks)).toContain('&amp;lt;');
    // Only texts of the service are markup.
    const markup = JSON.stringify(blocks).match(/"type":"mrkdwn","text":"[^"]*"/g) ?? [];
    expect(markup.filter((each) => !each.includes('https://ops.example.com'))).toEqual([]);
    const posted = calls('chat.postMessage').at(-1)!.values;
    expect(posted).toMatchObject({ parse: 'none', link_names: false, unfurl_links: false });
    expect(Object.keys(buttonsOf(message))).toEqual(['approve', 'reject', 'open']);
  }, 60_000);

  test('fits into what Slack takes, and says what was cut', async () => {
    const long = '&'.repeat(20_000);
    const { message } = await asked({ prompt: '{text}' }, { text: long, amount: long });
    for (const block of message.blocks) {
      const { text } = block as { text?: { text: string } };
      expect(text === undefined ? 0 : text.text.length).toBeLessThanOrEqual(3_000);
    }
    expect(textsOf(message.blocks)).toContain('(cut)');
    expect(textsOf(message.blocks)).toContain('Not all of it fits here');
    expect(textsOf(message.blocks)).not.toMatch(/&(?!amp;|lt;|gt;)/);
    expect(message.blocks.length).toBeLessThanOrEqual(50);
  }, 60_000);

  test('goes to the channel of its workflow, and not at all where the event is turned off', async () => {
    const [other, mute] = [await stage.engine.define(gated()), await stage.engine.define(gated())];
    const workflows = { [other]: { slack: { channel: 'C0OTHER' } }, [mute]: { on: [] } };
    expect((await set({ ...slackSettings(), workflows })).body.workflows[other]).toEqual({
      slack: { channel: 'C0OTHER' },
    });
    const silent = await stage.engine.trigger(mute, { amount: 1 });
    await stage.engine.until(silent, ['paused']);
    const runId = await stage.engine.trigger(other, { amount: 1 });
    await eventually(() => stage.messageOf(runId) !== undefined, 30_000);
    expect(stage.messageOf(runId)!.channel).toBe('C0OTHER');
    expect(stage.messageOf(silent)).toBeUndefined();
    const stored = await stage.engine.db.anyFirst(sql.unsafe`
      SELECT run_id FROM slack_messages WHERE run_id IN (${runId}, ${silent})`);
    expect(stored).toEqual([runId]);
  }, 60_000);

  test('is not sent for a rehearsal', async () => {
    const { runId } = await asked();
    await approve(runId);
    await stage.engine.until(runId, ['success']);
    const rehearsal = await stage.call('POST', `/api/runs/${runId}/rerun`, {
      ...{ mode: 'recorded', decisions: { review: { approved: true } } },
    });
    expect([rehearsal.status, rehearsal.body.detail]).toEqual([201, undefined]);
    await stage.engine.until(rehearsal.body.id, ['success']);
    const stored = await stage.engine.db.anyFirst(sql.unsafe`
      SELECT DISTINCT m.run_id FROM gates g LEFT JOIN slack_messages m ON m.run_id = g.run_id
      WHERE g.run_id IN (${runId}, ${rehearsal.body.id})`);
    expect(new Set(stored)).toEqual(new Set([runId, null]));
  }, 60_000);

  test('is deleted with its run', async () => {
    const { runId } = await asked();
    await approve(runId);
    await stage.engine.until(runId, ['success']);
    await stage.engine.db.query(sql.unsafe`DELETE FROM runs WHERE id = ${runId}`);
    expect(
      await stage.engine.db.exists(sql.unsafe`SELECT FROM slack_messages WHERE run_id = ${runId}`),
    ).toBe(false);
  }, 60_000);

  test('gets replies as reminders', async () => {
    const { message } = await asked({ remind_seconds: 1 });
    await eventually(
      () => stage.slack.messages.some(({ thread_ts: thread }) => thread === message.ts),
      30_000,
    );
    expect(stage.slack.messages.find(({ thread_ts: t }) => t === message.ts)!.text).toContain(
      'Reminder',
    );
  }, 60_000);
});

describe('while Slack has problems', () => {
  const down = { status: 503, body: 'down' };

  test('messages and changes wait until it is back, and decisions do not', async () => {
    const first = await asked();
    stage.slack.intercept((method) => (method.startsWith('chat.') ? down : undefined));
    const runId = await stage.engine.start(gated(), { amount: 6 });
    const gone = await stage.engine.start(gated(), { amount: 7 });
    await stage.engine.until(runId, ['paused']);
    await stage.engine.until(gone, ['paused']);
    for (const each of [first.runId, gone]) {
      expect((await approve(each)).status).toBe(200);
      await stage.engine.until(each, ['success']);
    }
    await eventually(async () => (await problem()) !== null, 30_000);
    expect(await problem()).toContain('answered');
    stage.slack.intercept(undefined);
    await eventually(() => stage.messageOf(runId) !== undefined, 60_000);
    await eventually(() => textsOf(first.message.blocks).includes('Approved by'), 60_000);
    // No one needs a message about a gate that was decided before it could be sent.
    expect(stage.messageOf(gone)).toBeUndefined();
    expect(stage.messageOf(runId, 1)).toBeUndefined();
    expect(await problem()).toBeNull();
  }, 120_000);

  test('Retry-After is respected', async () => {
    const egress = createEgress({ allow: stage.engine.deps.config.egressAllow });
    stage.slack.intercept(() => ({
      status: 429,
      headers: { 'retry-after': '30' },
      body: { ok: false, error: 'ratelimited' },
    }));
    const target = { apiUrl: stage.slack.apiUrl, token: 'xoxb-1' };
    await expect(callSlack(egress, target, 'chat.postMessage', {})).rejects.toMatchObject({
      ...{ reason: 'temporary', retryAfterMs: 30_000 },
    });
    await egress.close();
    let refused = 0;
    stage.slack.intercept((method) => {
      if (method !== 'chat.postMessage' || refused > 0) return undefined;
      refused += 1;
      return {
        status: 429,
        headers: { 'retry-after': '1' },
        body: { ok: false, error: 'ratelimited' },
      };
    });
    await asked();
    expect(refused).toBe(1);
  }, 60_000);

  test('a message is not sent twice if its answer was lost, and a reminder sends it again', async () => {
    let drops = 0;
    stage.slack.intercept((method, { thread_ts }) => {
      // Gates of other tests are still reminded of, in their threads.
      if (method !== 'chat.postMessage' || thread_ts !== undefined || drops > 0) return undefined;
      drops += 1;
      return { drops: true };
    });
    // Long enough to look at it before.
    const runId = await stage.engine.start(gated({ remind_seconds: 12 }), { amount: 5 });
    await eventually(() => stage.messageOf(runId) !== undefined, 30_000);
    const unknown = () =>
      stage.engine.db.exists(sql.unsafe`
        SELECT FROM slack_messages m WHERE run_id = ${runId} AND posting_at IS NOT NULL AND ts IS NULL
          AND leased_until IS NULL`);
    await eventually(unknown, 20_000);
    expect(stage.messageOf(runId, 1)).toBeUndefined();
    const ann = await person();
    await stage.client.send(stage.client.click(stage.messageOf(runId)!, 'approve', ann.user));
    expect(await hears(ann.user)).toContain('only just sent');
    await eventually(() => stage.messageOf(runId, 1) !== undefined, 60_000);
    await stage.client.open(stage.messageOf(runId, 1)!, 'approve', ann.user);
  }, 120_000);

  test('an unknown channel is a problem in the settings, until a message arrives', async () => {
    await set(slackSettings({ channel: 'C0NOWHERE' }));
    const runId = await stage.engine.start(gated(), { amount: 1 });
    await eventually(async () => (await problem()) !== null, 30_000);
    expect(await problem()).toContain('channel_not_found');
    expect((await approve(runId)).status).toBe(200);
    await set(slackSettings());
    expect(await problem()).toBeNull();
  }, 60_000);

  test('a revoked token ends the sign-in with an alert, and the next sign-in continues', async () => {
    const status = async () =>
      (await stage.call('GET', `/api/connections/${stage.connection}`)).body.status;
    await set({ ...slackSettings(), chat_webhook_url: `${stage.slack.url}/hook` });
    const { runId, message } = await asked();
    stage.slack.revoke();
    expect((await approve(runId)).status).toBe(200);
    await eventually(async () => (await status()) === 'needs_sign_in', 30_000);
    const isAlert = ({ url, body }: { url: string; body: string }) =>
      url === '/hook' && body.includes('no longer accepts the sign-in');
    await eventually(() => stage.slack.seen.some(isAlert), 30_000);
    expect(await problem()).toMatch(/token_revoked|needs a sign-in/);
    await signInToSlack(stage.call, stage.connection);
    const again = await asked();
    await approve(again.runId);
    await shows(again.message, 'Approved by');
    await shows(message, 'Approved by');
  }, 60_000);

  test('a test alert says that it works', async () => {
    const sent = await stage.call('POST', '/api/workspace/alerts/test', {});
    expect(sent.body.channels).toContain('slack');
    const isTest = () =>
      stage.slack.messages.some(({ text }) => text.includes('This is a test of alerts'));
    await eventually(isTest, 30_000);
  }, 60_000);
});
