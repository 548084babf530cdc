import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import { sql } from '#shared/db/pool.ts';
import { ALERT_WORKFLOW } from '#shared/contract/alerts/alerts.ts';
import { alertTexts, linkText } from '#shared/contract/alerts/alerts.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createBudget } from '#shared/db/money/budgets.ts';
import { assignGate } from '#shared/db/gates/assignments.ts';
import { pauseAtGates } from '#shared/db/gates/openings.ts';
import { abandonRun } from '#shared/db/runs/ends.ts';
import { reconcileOnce } from '#shared/operations/runs/reconcile.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import { chain, echo, type Engine, eventually, mock, startEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { raceRounds, soakDescribe, soakTest } from '#test/support/soak.ts';
import { readable } from '#test/support/executions.ts';

const SECRET = 'T0PS3CR3T-hook-path';
const KEY = 're_alert_key_42';
/** The public address of the engine. */
const ADDRESS = 'https://ops.example.com/console';
let chat: FakeServer;
let mail: MailServer;
/** The statuses of the chat webhook, one per request; then 200. */
let answers: number[];
let always: number | undefined;

beforeAll(async () => {
  // An error page that repeats the requested URL, as many do.
  chat = await startHttpServer((request, response) => {
    const status = always ?? answers.shift() ?? 200;
    sendJson(response, status, { message: `${status} at ${request.url}` });
  });
  mail = await startMailServer();
});
afterAll(async () => {
  await Promise.all([chat.close(), mail.close()]);
});
beforeEach(() => {
  answers = [];
  always = undefined;
  mail.refusal = undefined;
  chat.seen.length = 0;
  mail.seen.length = 0;
});

const chatSettings = () => ({ CHAT_WEBHOOK_URL: `${chat.url}/${SECRET}` });
const mailSettings = () => ({
  EMAIL_API_KEY: KEY,
  EMAIL_API_URL: mail.url,
  ALERT_EMAIL: 'ops@example.com',
});

const engines: Engine[] = [];
async function engineWith(env: Record<string, string>, worker = true): Promise<Engine> {
  const engine = await startEngine({
    worker,
    env: { RECONCILE_INTERVAL_SECONDS: '0.5', PUBLIC_URL: `${ADDRESS}/`, ...env },
  });
  engines.push(engine);
  return engine;
}
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

const failing = (message = 'Mock failure 1 of 9') => ({
  graph: chain(mock('book', { output: 'x', fail_times: 9 })),
  error: `Node 'book' failed: ${message}`,
});
const gated = chain({ id: 'review', kind: 'human_gate', prompt: 'Send {ticket}?' }, echo('send'));
const chatTexts = () => chat.seen.map((seen) => (JSON.parse(seen.body) as { text: string }).text);
const mails = () =>
  mail.seen.map((seen) => {
    const { to, subject, text } = JSON.parse(seen.body) as Record<string, unknown>;
    return { to, subject, text };
  });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const queued = (engine: Engine, runId: string) =>
  engine.db.any(sql.type(z.object({ id: z.number(), payload: z.looseObject({}) }))`
    SELECT id, payload FROM outbox WHERE run_id = ${runId} AND kind = 'alert' ORDER BY id
  `);

/** Waits until the alert's execution has closed, with any status. */
async function alertOf(engine: Engine, runId: string) {
  const { client } = engine.deps.temporal;
  let found: string | undefined;
  await eventually(async () => {
    for (const id of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
      try {
        const description = await client.workflow.getHandle(`alert-${runId}-${id}`).describe();
        if (description.status.name === 'RUNNING') continue;
        found = `alert-${runId}-${id}`;
        return true;
      } catch {
        // No execution has this number.
      }
    }
    return false;
  }, 60_000);
  const handle = client.workflow.getHandle(found!);
  const { status } = await handle.describe();
  return { status: status.name, history: readable(await handle.fetchHistory()) };
}

describe('alert texts', () => {
  const alert = {
    run_id: 'run_1',
    workspace_id: 'ws_1',
    workflow_name: 'Answer tickets',
    text: 'Something',
  };
  const url = 'https://ops.example.com/base';

  test('match the specification, and link to the right page', () => {
    expect(alertTexts({ ...alert, event: 'failed' }, url)).toEqual({
      chat: `[Durable workflows] Run run_1 of 'Answer tickets' failed: Something\n${url}/runs/run_1`,
      subject: '[Durable workflows] Run failed - Answer tickets',
      body: `Run run_1 of 'Answer tickets' failed: Something\n${url}/runs/run_1`,
    });
    const paused = "Run run_1 of 'Answer tickets' is paused at a human gate: Something";
    expect(alertTexts({ ...alert, event: 'paused', node_id: 'review' }, url)).toEqual({
      chat: `[Durable workflows] ${paused}\n${url}/approvals/run_1/review`,
      subject: '[Durable workflows] Approval needed - Answer tickets',
      body: `${paused}\n${url}/approvals/run_1/review`,
    });
    const call = { ...alert, event: 'paused', node_id: 'agent', step_key: 'agent/1.1' } as const;
    expect(alertTexts(call, url).body).toBe(
      `${paused}\n${url}/approvals/run_1/agent?step=agent%2F1.1`,
    );
    expect(alertTexts({ event: 'test', workspace_id: 'ws_1', by: 'Ada' }, url)).toEqual({
      chat: `[Durable workflows] This is a test of alerts, requested by Ada\n${url}/`,
      subject: '[Durable workflows] Test alert',
      body: `This is a test of alerts, requested by Ada\n${url}/`,
    });
  });

  test('link to the page of an ID with special characters', () => {
    const odd = { ...alert, run_id: 'run/1?', node_id: 'a:b #é', event: 'paused' } as const;
    const { body } = alertTexts(odd, url);
    const [, address = ''] = body.split('\n');
    const { pathname, search, hash } = new URL(address);
    expect([search, hash]).toEqual(['', '']);
    expect(pathname.split('/').map(decodeURIComponent)).toEqual([
      '',
      'base',
      'approvals',
      'run/1?',
      'a:b #é',
    ]);
  });

  test.each(['failed', 'paused', 'waiting', 'assigned'] as const)(
    'contain no markup of others in a chat, and stay plain in an email (%s)',
    (event) => {
      const markup = '<!channel> <https://evil.example|Approve here> & "x"';
      const safe = '&lt;!channel&gt; &lt;https://evil.example|Approve here&gt; &amp; "x"';
      const place = { node_id: 'review', step_key: 'review', member_id: 'mem_1' };
      const said = { ...alert, ...place, workflow_name: markup, text: markup, by: markup, event };
      const { chat: message, subject, body } = alertTexts(said, url);
      expect(message).toContain(`of '${safe}'`);
      expect(message).toContain(`: ${safe}\n${url}/`);
      expect(message).not.toMatch(/[<>]/);
      expect(body).toContain(`of '${markup}'`);
      expect(body).toContain(`: ${markup}\n`);
      expect(subject).toContain(markup);
      const test = alertTexts({ event: 'test', workspace_id: 'ws_1', by: markup }, url);
      expect(test.chat).toBe(
        `[Durable workflows] This is a test of alerts, requested by ${safe}\n${url}/`,
      );
      expect(test.body).toContain(markup);
    },
  );

  test('name a budget with what it has spent, as text in a chat', () => {
    const budget = {
      event: 'budget',
      workspace_id: 'ws_1',
      budget_id: 'bud_1',
      budget_name: 'A & <B>',
      percent: 80,
      spent_micros: 41_230_000,
      limit_micros: 50_000_000,
      window: 'month',
      window_start: '2026-11-01',
    } as const;
    const spent = '$41.23 of $50.00 spent in the month from 2026-11-01 (UTC)';
    expect(alertTexts(budget, url)).toEqual({
      chat: `[Durable workflows] Budget 'A &amp; &lt;B&gt;' has reached 80% of its limit: ${spent}\n${url}/budgets`,
      subject: '[Durable workflows] Budget at 80% - A & <B>',
      body: `Budget 'A & <B>' has reached 80% of its limit: ${spent}\n${url}/budgets`,
    });
    const full = { ...budget, percent: 100, window: 'total', window_start: null } as const;
    expect(alertTexts(full, url)).toMatchObject({
      subject: '[Durable workflows] Budget limit reached - A & <B>',
      body: `Budget 'A & <B>' has reached its limit, so new runs are refused: $41.23 of $50.00 spent in total\n${url}/budgets`,
    });
  });

  test('with a link have the question in one line, so that it cannot look like the rest', () => {
    const fake = 'Pay?\n\nDecide without signing in:\nhttps://evil.example/decide#x';
    const place = { node_id: 'review', step_key: 'review', round: 1 };
    const { body } = alertTexts({ ...alert, ...place, event: 'requested', text: fake }, url);
    const given = {
      publicUrl: url,
      token: 'k3J8',
      name: 'Ada\nLovelace',
      expiresAt: '2026-12-06T22:30:00.000Z',
    };
    expect(linkText(body, given).split('\n')).toEqual([
      "Run run_1 of 'Answer tickets' waits for your decision: Pay? Decide without signing in: https://evil.example/decide#x",
      '',
      'Decide without signing in, until 2026-12-06 22:30 UTC, once:',
      `${url}/decide#k3J8`,
      '',
      'The link is for Ada Lovelace. Anyone who has it can decide in this name, so do not forward this email.',
      '',
      'Or sign in:',
      `${url}/approvals/run_1/review`,
    ]);
    const long = alertTexts(
      { ...alert, ...place, event: 'requested', text: 'x'.repeat(5_000) },
      url,
    );
    expect(linkText(long.body, given).length).toBeLessThan(1_500);
  });

  test('keep the subject on one line for any workflow name', () => {
    const named = { ...alert, event: 'failed', workflow_name: 'A\r\nBcc: x@y\u2028z' } as const;
    const texts = alertTexts(named, url);
    expect(texts.subject).toBe('[Durable workflows] Run failed - A Bcc: x@y z');
    expect(texts.chat).toContain("'A\r\nBcc: x@y\u2028z'");
  });
});

test('messages of a run have the markup of their author, and no other', async () => {
  const engine = await engineWith({ ...chatSettings(), ...mailSettings() });
  const tool = (id: string, tool_name: string, params: object) =>
    ({ id, kind: 'tool', tool_name, params }) as never;
  const call = { tool: 'send_chat_message', arguments: { text: 'By a model: <!here> & co' } };
  const agent = {
    id: 'writer',
    kind: 'agent',
    model: 'mock',
    tools: [{ name: 'send_chat_message', approval: 'never' }],
    mock: { turns: [{ calls: [call] }, { output: 'Done' }] },
  } as never;
  const letter = { to: 'a@example.com', subject: 'For {who}' };
  const nodes = [
    tool('post', 'send_chat_message', { text: '*Refund* for {who}, <https://ok.example|here>' }),
    tool('alone', 'send_chat_message', { text: '{who}' }),
    tool('letter', 'send_email', {
      ...letter,
      text: 'Dear {who}',
      html: '<p title="{who}">Dear {who}: {list}</p>',
    }),
    tool('page', 'send_email', { ...letter, html: '{page}' }),
    agent,
  ];
  const input = { who: '<!channel> "A&B"', list: ['<b>'], page: '<h1>"A&B"</h1>' };
  const runId = await engine.trigger(await engine.define({ nodes, edges: [] }), input);
  expect((await engine.until(runId, ['success', 'failed'])).status).toBe('success');
  const safe = '&lt;!channel&gt; "A&amp;B"';
  expect(new Set(chatTexts())).toEqual(
    new Set([
      `*Refund* for ${safe}, <https://ok.example|here>`,
      safe,
      'By a model: &lt;!here&gt; &amp; co',
    ]),
  );
  const inHtml = '&lt;!channel&gt; &quot;A&amp;B&quot;';
  const sent = mail.seen.map((seen) => JSON.parse(seen.body) as Record<string, unknown>);
  expect(sent).toHaveLength(2);
  expect(sent).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        subject: `For ${input.who}`,
        text: `Dear ${input.who}`,
        html: `<p title="${inHtml}">Dear ${inHtml}: [&quot;&lt;b&gt;&quot;]</p>`,
      }),
      expect.objectContaining({ html: input.page }),
    ]),
  );
}, 60_000);

test('a wait with remind_seconds sends one alert, also after a cancel and a resume', async () => {
  const engine = await engineWith(chatSettings());
  const wait = { id: 'paid', label: 'Payment', kind: 'wait', event: { name: 'invoice.paid' } };
  const nodes = [{ ...wait, remind_seconds: 1 } as never];
  const runId = await engine.trigger(await engine.define({ nodes, edges: [] }, 'Collect'), {});
  await eventually(() => chatTexts().length === 1);
  expect(chatTexts()).toEqual([
    `[Durable workflows] Run ${runId} of 'Collect' still waits: 'Payment' waits for invoice.paid\n${ADDRESS}/runs/${runId}?step=paid`,
  ]);
  const remindAt = () =>
    engine.db.oneFirst(sql.unsafe`SELECT remind_at FROM run_waits WHERE run_id = ${runId}`);
  await engine.cancel(runId);
  await eventually(() => chatTexts().length === 2);
  await engine.resume(runId);
  await eventually(() =>
    engine.db.exists(sql.unsafe`SELECT FROM run_waits WHERE run_id = ${runId} AND status = 'open'`),
  );
  expect(await remindAt()).toBeNull();
  const sent = chatTexts().filter((text) => text.includes('still waits'));
  expect(sent).toHaveLength(1);
  await engine.cancel(runId);
}, 60_000);

describe('a gate that is assigned', () => {
  const start = async () => {
    // The operators get no alerts by email.
    const engine = await engineWith({ ...mailSettings(), ALERT_EMAIL: '' });
    const [ann, ben] = await Promise.all(
      ['Ann', 'Ben'].map(async (name) => {
        const id = newId('member');
        const email = `${id}@example.com`;
        await engine.db.query(sql.unsafe`
          INSERT INTO members (id, workspace_id, name, email, role, status)
          VALUES (${id}, ${engine.actor.workspaceId}, ${name}, ${email}, 'editor', 'active')`);
        return { ...engine.actor, id, name, email };
      }),
    );
    const runId = await engine.trigger(await engine.define(gated, 'Answer tickets'), {
      ticket: 'it',
    });
    await engine.until(runId, ['paused']);
    const assign = (memberId: string | null) =>
      assignGate(engine.db, { actor: ann!, runId, memberId, mails: true });
    return { engine, ann: ann!, ben: ben!, runId, assign };
  };

  soakTest('is announced to the assignee by email, except by themselves', async () => {
    const { engine, ann, ben, runId, assign } = await start();
    await assign(ann.id);
    await assign(ben.id);
    await eventually(() => mail.seen.length === 1);
    const line = `Ann assigned you an approval of Run ${runId} of 'Answer tickets': Send it?`;
    expect(mails()).toEqual([
      {
        to: [ben.email],
        subject: '[Durable workflows] Approval assigned to you - Answer tickets',
        text: `${line}\n${ADDRESS}/approvals/${runId}/review`,
      },
    ]);
    const { status, history } = await alertOf(engine, runId);
    expect(status).toBe('COMPLETED');
    expect(history).not.toContain(ben.email);
  });

  test('is not announced to a member who has lost it in the meantime', async () => {
    const { engine, ben, runId, assign } = await start();
    mail.refusal = { status: 503, body: { message: 'later' } };
    await assign(ben.id);
    await eventually(() => mail.seen.length > 0);
    await assign(null);
    mail.refusal = undefined;
    mail.seen.length = 0;
    expect((await alertOf(engine, runId)).status).toBe('COMPLETED');
    expect(mails()).toEqual([]);
  });
});

describe('a run that fails or pauses', () => {
  test('sends one chat message and one email', async () => {
    const engine = await engineWith({ ...chatSettings(), ...mailSettings() });
    const { graph, error } = failing();
    const failed = await engine.trigger(await engine.define(graph, 'Book a payment'));
    await engine.until(failed, ['failed']);
    await eventually(() => chat.seen.length === 1 && mail.seen.length === 1);
    const page = `${ADDRESS}/runs/${failed}`;
    expect(chatTexts()).toEqual([
      `[Durable workflows] Run ${failed} of 'Book a payment' failed: ${error}\n${page}`,
    ]);
    expect(mails()).toEqual([
      {
        to: ['ops@example.com'],
        subject: '[Durable workflows] Run failed - Book a payment',
        text: `Run ${failed} of 'Book a payment' failed: ${error}\n${page}`,
      },
    ]);

    const paused = await engine.trigger(await engine.define(gated, 'Answer tickets'), {
      ticket: 'it',
    });
    await engine.until(paused, ['paused']);
    await eventually(() => chat.seen.length === 2 && mail.seen.length === 2);
    const line = `Run ${paused} of 'Answer tickets' is paused at a human gate: Send it?`;
    const text = `${line}\n${ADDRESS}/approvals/${paused}/review`;
    expect(chatTexts()[1]).toBe(`[Durable workflows] ${text}`);
    expect(mails()[1]).toEqual({
      to: ['ops@example.com'],
      subject: '[Durable workflows] Approval needed - Answer tickets',
      text,
    });
    await engine.approve(paused);
    expect((await engine.until(paused, ['success', 'failed'])).status).toBe('success');
    await pause(1_500);
    expect([chat.seen.length, mail.seen.length]).toEqual([2, 2]);
  }, 60_000);

  soakTest('alerts when cancelled, and again when it fails after a resume', 60_000, async () => {
    const engine = await engineWith(chatSettings());
    const runId = await engine.trigger(await engine.define(gated, 'G'), { ticket: 'it' });
    await engine.until(runId, ['paused']);
    await engine.cancel(runId);
    await eventually(() => chat.seen.length === 2);
    expect(chatTexts().sort()).toEqual([
      `[Durable workflows] Run ${runId} of 'G' failed: Cancelled by Owner\n${ADDRESS}/runs/${runId}`,
      `[Durable workflows] Run ${runId} of 'G' is paused at a human gate: Send it?\n${ADDRESS}/approvals/${runId}/review`,
    ]);

    chat.seen.length = 0;
    const { graph } = failing();
    const again = await engine.trigger(await engine.define(graph, 'B'));
    await engine.until(again, ['failed']);
    await eventually(() => chat.seen.length === 1);
    await engine.resume(again);
    await eventually(() => chat.seen.length === 2, 20_000);
    const page = `${ADDRESS}/runs/${again}`;
    expect(chatTexts()).toEqual([
      `[Durable workflows] Run ${again} of 'B' failed: Node 'book' failed: Mock failure 1 of 9\n${page}`,
      `[Durable workflows] Run ${again} of 'B' failed: Node 'book' failed: Mock failure 2 of 9\n${page}`,
    ]);
  });

  test('alerts only over the configured channels', async () => {
    const { graph } = failing();
    const byMail = await engineWith(mailSettings());
    const runId = await byMail.trigger(await byMail.define(graph));
    await eventually(() => mail.seen.length === 1, 20_000);
    expect((await alertOf(byMail, runId)).status).toBe('COMPLETED');
    expect(chat.seen).toEqual([]);

    // A recipient without a key has no effect, and a key without a recipient is for other email.
    const incomplete: Record<string, string>[] = [
      { ALERT_EMAIL: 'a@b.c' },
      { EMAIL_API_KEY: KEY },
      {},
    ];
    for (const env of incomplete) {
      const silent = await engineWith({ EMAIL_API_URL: mail.url, ...env }, false);
      const quiet = await silent.trigger(await silent.define(graph));
      await silent.cancel(quiet);
      expect(await queued(silent, quiet)).toEqual([]);
    }
    expect(mail.seen).toHaveLength(1);
  }, 60_000);
});

soakDescribe('a failing receiver', () => {
  test('is retried with the same key until it accepts', async () => {
    const engine = await engineWith(chatSettings());
    answers = [500, 429];
    const runId = await engine.trigger(await engine.define(failing().graph));
    const { status } = await alertOf(engine, runId);
    expect(status).toBe('COMPLETED');
    expect(chat.seen).toHaveLength(3);
    const keys = new Set(chat.seen.map((seen) => seen.headers['idempotency-key']));
    expect(keys.size).toBe(1);
  }, 60_000);

  test('gets six attempts, without effect on the run or the other channel', async () => {
    const engine = await engineWith({ ...chatSettings(), ...mailSettings() });
    always = 500;
    const runId = await engine.trigger(await engine.define(gated), { ticket: 'it' });
    await eventually(() => mail.seen.length === 1 && chat.seen.length === 1);
    await engine.approve(runId);
    expect((await engine.until(runId, ['success', 'failed'])).status).toBe('success');
    const { status, history } = await alertOf(engine, runId);
    expect(status).toBe('FAILED');
    expect(chat.seen).toHaveLength(6);
    expect(mail.seen).toHaveLength(1);
    expect(history).toContain('The chat webhook responded with 500');
    expect(history).toContain('Send it?');
    expect(history).not.toContain(SECRET);
    await pause(1_000);
    expect(chat.seen).toHaveLength(6);
  }, 90_000);

  test('is not retried after a permanent refusal', async () => {
    const engine = await engineWith({ ...chatSettings(), ...mailSettings() });
    always = 404;
    mail.refusal = { status: 422, body: { message: 'no such sender' } };
    const runId = await engine.trigger(await engine.define(failing().graph));
    const { status } = await alertOf(engine, runId);
    expect(status).toBe('FAILED');
    expect([chat.seen.length, mail.seen.length]).toEqual([1, 1]);
  }, 60_000);
});

describe('an alert', () => {
  const pauseCall = (runId: string) => ({
    run_id: runId,
    control: [],
    observed: [],
    gates: [
      {
        step_key: 'review',
        round: 1,
        node_id: 'review',
        label: 'review',
        iteration: [],
        prompt: 'Sure?',
        fails_on_reject: true,
      },
    ],
  });

  soakTest('is queued once per transition, also with concurrent reports', 60_000, async () => {
    const engine = await engineWith(chatSettings(), false);
    const workflowId = await engine.define(gated, 'G');
    for (let round = 0; round < raceRounds(20); round += 1) {
      const runId = await engine.trigger(workflowId);
      const call = { ...pauseCall(runId), execution: 'e1', alerts: true, publicUrl: ADDRESS };
      await Promise.all([1, 2, 3].map(() => pauseAtGates(engine.db, call)));
      expect((await queued(engine, runId)).map((row) => row.payload['event'])).toEqual(['paused']);
      const end = { runId, kind: 'crash', error: 'gone', alerts: true } as const;
      await Promise.allSettled([
        abandonRun(engine.db, end),
        abandonRun(engine.db, end),
        engine.cancel(runId),
        pauseAtGates(engine.db, call),
      ]);
      expect((await queued(engine, runId)).map((row) => row.payload['event'])).toEqual([
        'paused',
        'failed',
      ]);
    }
  });

  soakTest('neither blocks nor waits for the rest of its run', 60_000, async () => {
    const engine = await engineWith(chatSettings(), false);
    const runId = await engine.trigger(await engine.define(gated, 'G'));
    await engine.carriedOut(runId);
    await pauseAtGates(engine.db, {
      ...pauseCall(runId),
      execution: 'e1',
      alerts: true,
      publicUrl: ADDRESS,
    });
    // Blocks the alert: it is due in an hour.
    await engine.db.query(sql.unsafe`
      UPDATE outbox SET due_at = now() + interval '1 hour' WHERE kind = 'alert'
    `);
    const { dispatched } = await engine.approve(runId);
    expect(await dispatched).toBe(true);
    await engine.carriedOut(runId);
    // The reverse: a cancel that is not due yet, with an alert behind it.
    await engine.db.query(sql.unsafe`
      INSERT INTO outbox (run_id, kind, due_at) VALUES (${runId}, 'cancel', now() + interval '1 hour')
    `);
    await engine.db.query(sql.unsafe`UPDATE outbox SET due_at = now() WHERE kind = 'alert'`);
    await reconcileOnce(engine.deps);
    await eventually(async () => (await queued(engine, runId)).length === 0);
  });

  test('queued by a version without gate names links to the page of its run', async () => {
    const engine = await engineWith(chatSettings());
    const { workspaceId: workspace_id } = engine.actor;
    const alert = {
      run_id: 'run_old',
      workspace_id,
      workflow_name: 'G',
      event: 'paused',
      text: 'Sure?',
    };
    const { temporal } = engine.deps;
    await temporal.client.workflow.execute(ALERT_WORKFLOW, {
      workflowId: 'alert-run_old-0',
      taskQueue: temporal.queues.control,
      args: [{ alert, channels: ['chat'], task_queue: temporal.queues.background }],
    });
    const text = `[Durable workflows] Run run_old of 'G' is paused at a human gate: Sure?\n${ADDRESS}/runs/run_old`;
    expect(chatTexts()).toEqual([text]);

    await engine.db.query(sql.unsafe`
      INSERT INTO outbox (run_id, kind, payload) VALUES ('run_old', 'alert', ${JSON.stringify(alert)}::json)
    `);
    await eventually(() => chat.seen.length === 2);
    expect(chatTexts()).toEqual([text, text]);
  }, 60_000);

  soakTest('left unsent by a killed worker is sent once by the next', 90_000, async () => {
    const engine = await engineWith({ ...chatSettings(), ...mailSettings() }, false);
    // This worker commits, but never checks for due work before it dies.
    const env = { ...engine.env, RECONCILE_INTERVAL_SECONDS: '600', LOG_LEVEL: 'trace' };
    const first = await startWorkerProcess(env);
    await pause(500);
    const runId = await engine.trigger(await engine.define(failing().graph, 'B'));
    await engine.until(runId, ['failed']);
    expect(await queued(engine, runId)).toHaveLength(1);
    await first.kill();
    answers = [500];
    const next = { ...engine.env, LOG_LEVEL: 'trace' };
    const workers = await Promise.all([1, 2].map(() => startWorkerProcess(next)));
    try {
      const { status, history } = await alertOf(engine, runId);
      expect(status).toBe('COMPLETED');
      await pause(1_500);
      expect(chat.seen).toHaveLength(2);
      expect(mail.seen).toHaveLength(1);
      const logs = [first, ...workers].flatMap((worker) => worker.tail(5_000)).join('\n');
      expect(logs).toContain('could not deliver an alert');
      for (const text of [logs, history]) {
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain(KEY);
      }
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  });
});

test('a budget that has spent 80% and all of its limit sends one alert each over every channel', async () => {
  const engine = await engineWith({ ...chatSettings(), ...mailSettings() });
  const id = await createBudget(engine.db, engine.actor, {
    name: 'All',
    scope: 'workspace',
    window: 'total',
    limit_usd: 1,
  });
  const workflowId = await engine.define(chain(mock('write', { cost_usd: 0.45, output: 'x' })));
  for (let run = 0; run < 3; run += 1) {
    await engine.until(await engine.trigger(workflowId), ['success']);
  }
  await eventually(() => chat.seen.length === 2 && mail.seen.length === 2, 60_000);
  expect(chatTexts().sort()).toEqual([
    `[Durable workflows] Budget 'All' has reached 80% of its limit: $0.90 of $1.00 spent in total\n${ADDRESS}/budgets`,
    `[Durable workflows] Budget 'All' has reached its limit, so new runs are refused: $1.35 of $1.00 spent in total\n${ADDRESS}/budgets`,
  ]);
  expect(mails().map(({ to, subject }) => [to, subject])).toEqual(
    expect.arrayContaining([
      [['ops@example.com'], '[Durable workflows] Budget at 80% - All'],
      [['ops@example.com'], '[Durable workflows] Budget limit reached - All'],
    ]),
  );
  expect(await queued(engine, id)).toEqual([]);
}, 60_000);

describe('a test alert', () => {
  const callOn = async (engine: Engine, method: 'GET' | 'POST', url: string) => {
    const app = buildApp(engine.deps);
    try {
      const { statusCode: status, body } = await app.inject({ method, url });
      return { status, text: body, body: JSON.parse(body) };
    } finally {
      await app.close();
    }
  };
  const outcomes = (body: any) =>
    body.channels.map((each: any) => [each.channel, each.configured, each.events.join()]);

  soakTest('is sent once over each configured channel, and is audited', 60_000, async () => {
    const engine = await engineWith({ ...chatSettings(), ...mailSettings() });
    const settings = await callOn(engine, 'GET', '/api/workspace/alerts');
    expect(outcomes(settings.body)).toEqual([
      ['chat', true, 'failed,paused,waiting,budget,connection'],
      ['email', true, 'failed,paused,waiting,budget,connection'],
      ['slack', false, 'paused'],
    ]);
    answers = [500];
    const asked = await callOn(engine, 'POST', '/api/workspace/alerts/test');
    expect([asked.status, asked.body]).toEqual([202, { channels: ['chat', 'email'] }]);
    for (const secret of [SECRET, KEY, chat.url, mail.url, 'ops@example.com']) {
      expect(settings.text + asked.text).not.toContain(secret);
    }
    await eventually(() => chat.seen.length === 2 && mail.seen.length === 1);
    const text = `This is a test of alerts, requested by Owner\n${ADDRESS}/`;
    expect(chatTexts()).toEqual([`[Durable workflows] ${text}`, `[Durable workflows] ${text}`]);
    expect(mails()).toEqual([
      { to: ['ops@example.com'], subject: '[Durable workflows] Test alert', text },
    ]);
    const keys = new Set(chat.seen.map((seen) => seen.headers['idempotency-key']));
    expect(keys.size).toBe(1);
    const { logs } = (await callOn(engine, 'GET', '/api/audit?limit=1')).body;
    expect(logs).toMatchObject([
      {
        action: 'alert_test',
        actor_id: engine.actor.id,
        target_type: 'workspace',
        target_id: engine.actor.workspaceId,
        details: { channels: ['chat', 'email'] },
      },
    ]);

    await callOn(engine, 'POST', '/api/workspace/alerts/test');
    await eventually(() => chat.seen.length === 3 && mail.seen.length === 2);
    expect((await alertOf(engine, engine.actor.workspaceId)).status).toBe('COMPLETED');
  });

  soakTest('is sent over the configured channel; the other is explained', 60_000, async () => {
    const engine = await engineWith({ ...chatSettings(), ALERT_EMAIL: 'ops@example.com' });
    const { body } = await callOn(engine, 'GET', '/api/workspace/alerts');
    expect(outcomes(body)).toEqual([
      ['chat', true, 'failed,paused,waiting,budget,connection'],
      ['email', false, 'failed,paused,waiting,budget,connection'],
      ['slack', false, 'paused'],
    ]);
    expect(body.channels[1].hint).toMatch(/EMAIL_API_KEY.*ALERT_EMAIL/);
    const asked = await callOn(engine, 'POST', '/api/workspace/alerts/test');
    expect(asked.body).toEqual({ channels: ['chat'] });
    await eventually(() => chat.seen.length === 1);
    expect(mail.seen).toEqual([]);
  });

  test('is refused and not queued when no channel is configured', async () => {
    const engine = await engineWith({}, false);
    const before = (await callOn(engine, 'GET', '/api/audit')).body.total;
    const { status, body } = await callOn(engine, 'POST', '/api/workspace/alerts/test');
    expect([status, body]).toEqual([409, { detail: 'No alert channel is configured' }]);
    expect(await queued(engine, engine.actor.workspaceId)).toEqual([]);
    expect((await callOn(engine, 'GET', '/api/audit')).body.total).toBe(before);
  }, 60_000);
});
