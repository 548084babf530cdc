import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { eventually } from '#test/support/engine.ts';
import { verifyText } from '#test/support/evidence.ts';
import { buttonsOf, textsOf } from '#test/support/slack-world.ts';
import { useSlack } from './slack-stage.ts';

const stage = useSlack();
const { asked, shows, person, hears } = stage;
const answerOf = async (sent: Promise<{ status: number; text: string }>) => {
  const { status, text } = await sent;
  expect([status, text]).toEqual([200, text]);
  return text === '' ? undefined : JSON.parse(text);
};
const submit = (opened: any, user: string, values: object = {}) =>
  answerOf(stage.client.send(stage.client.submission(opened, user, values)));
const CLEARED = { response_action: 'clear' };
const gate = async (runId: string) =>
  (await stage.call('GET', `/api/runs/${runId}/gates/review`)).body;
const decidedIn = async (runId: string) =>
  stage.engine.db.oneFirst(sql.unsafe`
    SELECT count(*)::int FROM audit_log WHERE target_id = ${runId} AND action IN ('approve', 'reject')`);
const approve = (runId: string) =>
  stage.call('POST', `/api/runs/${runId}/approve`, { approved: true, step_key: 'review' });
const MINE = { value: 'as agreed' };

describe('a decision in Slack', () => {
  test('is made in a modal, and every record says by_slack', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'approve', ann.user);
    expect(textsOf(opened.view)).toContain('Pay 5?');
    expect(textsOf(opened.view)).toContain(
      'Read paid: runs an agent, always\n   {"prompt":"Pay 5"}',
    );
    expect(textsOf(opened.view)).not.toContain('If it is rejected');
    expect(await submit(opened, ann.user, { reason: MINE })).toEqual(CLEARED);
    await stage.engine.until(runId, ['success']);
    const { body: run } = await stage.call('GET', `/api/runs/${runId}`);
    expect(run.steps.find((step: any) => step.node_id === 'review')).toMatchObject({
      decision: { approved: true, by: ann.name, by_slack: true, reason: 'as agreed' },
    });
    const { body: audit } = await stage.call('GET', `/api/audit?target_id=${runId}&action=approve`);
    const signedIn = { by: 'slack', team_id: 'T0TEAM', user_id: ann.user };
    expect(audit.logs).toMatchObject([
      { actor_id: ann.id, details: { by_slack: true, signed_in: signedIn, reason: 'as agreed' } },
    ]);
    const { text } = await stage.call('GET', `/api/runs/${runId}/evidence`);
    const line = text.split('\n').find((each) => each.includes('"kind":"gate"'));
    expect(JSON.parse(line ?? '')).toMatchObject({ by_id: ann.id, by_slack: true });
    expect(verifyText(text).problems).toEqual([]);
    await shows(message, `Approved by ${ann.name}, in Slack`);
    expect(textsOf(message.blocks)).toContain('Reason: as agreed');
    expect(buttonsOf(message)).toEqual({});
  }, 60_000);

  test('can be a rejection', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'reject', ann.user);
    expect(await submit(opened, ann.user, { reason: MINE })).toEqual(CLEARED);
    await stage.engine.until(runId, ['success']);
    expect((await gate(runId)).decision).toMatchObject({ approved: false, by_slack: true });
    await shows(message, 'Rejected by');
  }, 60_000);

  test('counts once, if two people send theirs at the same time', async () => {
    const [ann, ben] = [await person(), await person()];
    const { runId, message } = await asked();
    const yes = await stage.client.open(message, 'approve', ann.user);
    const no = await stage.client.open(message, 'reject', ben.user);
    const answers = await Promise.all([submit(yes, ann.user), submit(no, ben.user)]);
    expect(answers.filter(({ response_action: action }) => action === 'clear')).toHaveLength(1);
    const [other] = answers.filter(({ response_action: action }) => action !== 'clear');
    expect(textsOf(other.view)).toMatch(/has already been (approved|rejected) by Member/);
    expect(await decidedIn(runId)).toBe(1);
  }, 60_000);

  test('is needed by as many members as the gate requires, and the message counts them', async () => {
    const [ann, ben] = [await person(), await person()];
    const { runId, message } = await asked({ required: 2 });
    expect(textsOf(message.blocks)).toContain('0 of 2 approvals');
    const first = await stage.client.open(message, 'approve', ann.user);
    expect(await submit(first, ann.user)).toEqual(CLEARED);
    await shows(message, `1 of 2 approvals, approved by ${ann.name}`);
    const again = await stage.client.open(message, 'approve', ann.user);
    expect(await submit(again, ann.user)).toEqual(CLEARED);
    expect((await gate(runId)).status).toBe('open');
    const second = await stage.client.open(message, 'approve', ben.user);
    expect(await submit(second, ben.user)).toEqual(CLEARED);
    await shows(message, `Approved by ${ben.name}, in Slack`);
    const { body: run } = await stage.call('GET', `/api/runs/${runId}`);
    const { decisions } = run.steps.find((step: any) => step.node_id === 'review');
    expect(decisions.map(({ by_slack: slack }: any) => slack)).toEqual([true, true]);
  }, 60_000);

  test('is refused by the rules of the gate before the modal, with an audit entry after it', async () => {
    const [ann, ben] = [await person(), await person()];
    const { runId, message } = await asked({ approvers: { members: [ann.id] } });
    expect((await stage.client.send(stage.client.click(message, 'approve', ben.user))).status).toBe(
      200,
    );
    expect(await hears(ben.user)).toContain('can only be decided by 1 named member');
    const opened = await stage.client.open(message, 'approve', ann.user);
    // The modal of another person.
    const answer = await submit(opened, ben.user);
    expect(textsOf(answer.view)).toContain('can only be decided by 1 named member');
    const url = `/api/audit?target_id=${runId}&action=decision_refused`;
    expect((await stage.call('GET', url)).body.logs).toMatchObject([
      { actor_id: ben.id, details: { approved: true, by_slack: true } },
    ]);
    expect(await decidedIn(runId)).toBe(0);
  }, 60_000);
});

describe('a modal', () => {
  const form = {
    input_schema: {
      type: 'object',
      required: ['amount', 'urgent'],
      properties: {
        amount: { type: 'integer', title: 'Amount', minimum: 1 },
        urgent: { type: 'boolean' },
        currency: { enum: ['EUR', 'USD'], default: 'EUR' },
        until: { type: 'string', format: 'date' },
        note: { type: 'string', description: 'For the receiver' },
      },
    },
  };

  test('has the fields of the form, shows errors at them, and asks again where the input changes what happens', async () => {
    const ann = await person();
    const { runId, message } = await asked(form);
    const opened = await stage.client.open(message, 'approve', ann.user);
    const elements = opened.view.blocks
      .filter(({ type }: any) => type === 'input')
      .map(({ element, optional }: any) => [element.type, optional]);
    expect(elements).toEqual([
      ['number_input', false],
      ['static_select', false],
      ['static_select', true],
      ['datepicker', true],
      ['plain_text_input', true],
      ['plain_text_input', true],
    ]);
    const entered = {
      'field-0': { value: '0' },
      'field-1': { selected_option: { value: '0' } },
      'field-3': { selected_date: '2026-12-24' },
      'field-4': { value: 'thanks' },
    };
    expect(await submit(opened, ann.user, entered)).toEqual({
      response_action: 'errors',
      errors: { 'field-0': 'amount must be >= 1' },
    });
    const next = { ...entered, 'field-0': { value: '7' } };
    const changed = await submit(opened, ann.user, next);
    expect(changed.response_action).toBe('update');
    expect(textsOf(changed.view)).toContain('Nothing was decided yet');
    expect(textsOf(changed.view)).toContain('{"prompt":"Pay 7"}');
    expect(JSON.stringify(changed.view)).toContain('"initial_value":"7"');
    expect(await decidedIn(runId)).toBe(0);
    expect(await submit({ ...opened, view: changed.view }, ann.user, next)).toEqual(CLEARED);
    await stage.engine.until(runId, ['success']);
    expect((await stage.call('GET', `/api/runs/${runId}`)).body.state).toMatchObject({
      ...{ amount: 7, urgent: true, until: '2026-12-24', note: 'thanks' },
    });
  }, 60_000);

  test('leads to the console for a form that it cannot show, and still rejects', async () => {
    const ann = await person();
    const { runId, message } = await asked({
      input_schema: { type: 'object', properties: { lines: { type: 'array' } } },
    });
    const yes = await stage.client.open(message, 'approve', ann.user);
    expect(textsOf(yes.view)).toContain(`/approvals/${runId}/review|console`);
    expect(yes.view.submit).toBeUndefined();
    const no = await stage.client.open(message, 'reject', ann.user);
    expect(await submit(no, ann.user)).toEqual(CLEARED);
  }, 60_000);

  test('changes the arguments of a call, as far as approve lets it', async () => {
    const ann = await person();
    const runId = await stage.engine.start(
      {
        nodes: [
          {
            ...{ id: 'review', kind: 'tool', tool_name: 'http_request', approval: 'always' },
            params: { method: 'POST', url: 'http://127.0.0.1:9/pay', body: { amount: '{amount}' } },
          } as never,
        ],
        edges: [],
      },
      { amount: 5 },
    );
    await eventually(() => stage.messageOf(runId) !== undefined, 30_000);
    const message = stage.messageOf(runId)!;
    expect(textsOf(message.blocks)).toContain(
      'http_request is executed with exactly these arguments',
    );
    const opened = await stage.client.open(message, 'approve', ann.user);
    const given = opened.view.blocks.find(({ block_id: id }: any) => id === 'arguments');
    const values = JSON.parse(given.element.initial_value);
    expect(values).toMatchObject({ url: 'http://127.0.0.1:9/pay' });
    const send = (value: string) => submit(opened, ann.user, { arguments: { value } });
    expect((await send('{')).errors).toEqual({ arguments: 'Must be a JSON object' });
    expect((await send(JSON.stringify({ ...values, method: 'PUT' }))).errors).toEqual({
      arguments: 'arguments.method is set by the workflow: send it unchanged',
    });
    const body = { ...values.body, amount: 4 };
    expect(await send(JSON.stringify({ ...values, body }))).toEqual(CLEARED);
    expect((await gate(runId)).decided_arguments).toMatchObject({ body: { amount: 4 } });
  }, 60_000);

  test('shows the result later, if the decision takes longer than Slack waits', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'approve', ann.user);
    // Another change of the run is not finished.
    const locked = Promise.withResolvers<true>();
    const answered = Promise.withResolvers<true>();
    const change = stage.engine.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`SELECT FROM runs WHERE id = ${runId} FOR UPDATE`);
      locked.resolve(true);
      await answered.promise;
    });
    await locked.promise;
    const answer = await submit(opened, ann.user);
    answered.resolve(true);
    await change;
    expect(answer.response_action).toBe('update');
    expect(textsOf(answer.view)).toContain('The result appears here');
    const later = () => stage.slack.views.findLast(({ id }) => id === opened.id);
    await eventually(() => textsOf(later()?.view).includes('Your decision counts'), 30_000);
    expect(await decidedIn(runId)).toBe(1);
  }, 60_000);

  test('that is sent after the end says how it ended', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'approve', ann.user);
    expect((await approve(runId)).status).toBe(200);
    const late = await submit(opened, ann.user);
    expect(textsOf(late.view)).toContain('This has already been approved by');
    expect(await decidedIn(runId)).toBe(1);
  }, 60_000);
});

describe('what happens meanwhile', () => {
  test('a decision in the console ends the message, and a click on an old one says so', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const click = stage.client.click(message, 'approve', ann.user);
    expect((await approve(runId)).status).toBe(200);
    await stage.client.send(click);
    expect(await hears(ann.user)).toContain('This has already been approved by');
    await shows(message, 'Approved by');
    expect(textsOf(message.blocks)).not.toContain('in Slack');
    expect(buttonsOf(message)).toEqual({});
  }, 60_000);

  test('a change of what happens updates the message, and the person is asked again', async () => {
    const ann = await person();
    const { runId, message } = await asked({
      required: 2,
      input_schema: {
        type: 'object',
        properties: { amount: { type: 'integer' } },
      },
    });
    const before = stage.client.click(message, 'approve', ann.user);
    const opened = await stage.client.open(message, 'approve', ann.user);
    const other = await person();
    const input = { amount: 9 };
    const body = { approved: true, step_key: 'review', input };
    const headers = { 'x-api-key': `ops_${other.id}` };
    const done = await stage.call('POST', `/api/runs/${runId}/approve`, body, headers);
    expect([done.status, done.body.detail]).toEqual([200, undefined]);
    const stale = await submit(opened, ann.user);
    expect(textsOf(stale.view)).toContain('{"prompt":"Pay 9"}');
    await stage.client.send(before);
    expect(await hears(ann.user)).toContain('has changed since');
    await shows(message, '{"prompt":"Pay 9"}');
    const { digest } = await gate(runId);
    expect(JSON.parse(buttonsOf(message)['approve'].value).digest).toBe(digest);
    expect(await submit({ ...opened, view: stale.view }, ann.user)).toEqual(CLEARED);
  }, 60_000);

  test('a member who is removed decides nothing', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'approve', ann.user);
    await stage.engine.db.query(sql.unsafe`DELETE FROM api_keys WHERE member_id = ${ann.id}`);
    await stage.engine.db.query(sql.unsafe`DELETE FROM members WHERE id = ${ann.id}`);
    expect(textsOf((await submit(opened, ann.user)).view)).toContain('No active member');
    expect(await decidedIn(runId)).toBe(0);
  }, 60_000);

  test('a cancelled run ends the message', async () => {
    const { runId, message } = await asked();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
    await shows(message, 'No longer needed');
    expect(buttonsOf(message)).toEqual({});
  }, 60_000);

  test('a deadline ends the message', async () => {
    const { message } = await asked({ timeout_seconds: 2, on_timeout: 'reject' });
    await shows(message, 'No one decided in time: reject');
    expect(buttonsOf(message)).toEqual({});
  }, 60_000);

  test('a resume asks in another message, and the modal of the first one decides nothing', async () => {
    const ann = await person();
    const runId = await stage.engine.start(
      { nodes: [{ id: 'review', kind: 'human_gate', prompt: 'Go on?' } as never], edges: [] },
      {},
    );
    await eventually(() => stage.messageOf(runId) !== undefined, 30_000);
    const first = stage.messageOf(runId)!;
    const opened = await stage.client.open(first, 'approve', ann.user);
    const click = stage.client.click(first, 'approve', ann.user);
    await stage.call('POST', `/api/runs/${runId}/cancel`);
    await stage.engine.until(runId, ['failed']);
    expect((await stage.call('POST', `/api/runs/${runId}/resume`, {})).status).toBe(200);
    await eventually(() => stage.messageOf(runId, 1) !== undefined, 30_000);
    await shows(first, 'No longer needed');
    expect(buttonsOf(stage.messageOf(runId, 1)!)['approve']).toBeDefined();
    expect(textsOf((await submit(opened, ann.user)).view)).toContain('no longer open');
    await stage.client.send(click);
    expect(await hears(ann.user)).toContain('no longer open');
    expect(await decidedIn(runId)).toBe(0);
  }, 60_000);

  test('Slack that is turned off decides nothing', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await stage.client.open(message, 'approve', ann.user);
    const submission = stage.client.submission(opened, ann.user);
    await stage.call('PUT', '/api/workspace/alerts', {});
    expect((await stage.client.send(submission)).status).toBe(401);
    expect(await decidedIn(runId)).toBe(0);
  }, 60_000);
});
