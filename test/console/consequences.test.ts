import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import type { AnswerConsequences, Effect } from '#client/index.ts';
import { argumentRows } from '#console/src/parts/consequences/argument-rows.ts';
import { comparedEffects } from '#console/src/parts/consequences/compared.ts';
import { certaintyText } from '#console/src/parts/consequences/effect-texts.ts';
import { sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, mock } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, personOf, type Stage } from './browser.ts';

const pay: Effect = {
  ...{ node_id: 'pay', step_key: 'pay', label: 'Pay', kind: 'tool', tool: 'http_request' },
  ...{ certainty: 'certain', conditions: [], effect: 'write', host: 'bank.test', unknown: [] },
  ...{
    arguments: { url: 'https://bank.test', body: { amount: 100 } },
    cost_usd: { min: 0, max: 0 },
  },
};
const answer = (...effects: Partial<Effect>[]): AnswerConsequences => ({
  effects: effects.map((effect) => ({ ...pay, ...effect })),
  more: 0,
  next_gates: [],
});

describe('what an answer sets in motion', () => {
  test('is shown value by value, with what is not known in its place', () => {
    const given = { to: 'Ada', body: { note: null, tags: ['a', {}] }, 'odd key': 1 };
    const unknown = [
      { path: ['body', 'note'], reads: ['quote.price'] },
      { path: ['late', 0], reads: [] },
    ];
    expect(argumentRows(given, unknown)).toEqual([
      { path: 'to', value: 'Ada' },
      { path: 'body.note', value: null, reads: ['quote.price'] },
      { path: 'body.tags[0]', value: 'a' },
      { path: 'body.tags[1]', value: {} },
      { path: '["odd key"]', value: 1 },
      { path: 'late[0]', value: null, reads: [] },
    ]);
  });

  test('has writes before reads, and says when each of them happens', () => {
    const listed = comparedEffects(
      answer({ step_key: 'a', effect: 'read' }, { step_key: 'b' }, { step_key: 'c' }),
      undefined,
    );
    expect(listed.map(({ effect }) => effect.step_key)).toEqual(['b', 'c', 'a']);
    const isLarge = { node_id: 'large', when: 'true' as const, expression: 'amount > 5' };
    const says = (part: Partial<Effect>) => certaintyText({ ...pay, ...part });
    expect(says({})).toBe('always');
    expect(says({ certainty: 'conditional', conditions: [isLarge] })).toBe(
      'only if amount > 5 is true',
    );
    const failed = { node_id: 'send', when: 'error' as const };
    expect(says({ certainty: 'conditional', conditions: [isLarge, failed] })).toBe(
      'depends on what decides: amount > 5 is true; send fails',
    );
    const times = (min: number, max: number | null) =>
      says({ certainty: 'per_item', executions: { min, max } });
    expect([times(3, 10), times(2, 2), times(0, null)]).toEqual([
      'for each item, 3 to 10 times',
      'for each item, 2 times',
      'for each item, 0 times or more',
    ]);
  });

  test('is compared with other lists by step and by argument', () => {
    const before = answer({ step_key: 'pay#1' }, { step_key: 'pay#2' }, { step_key: 'pay#3' });
    const changed = { url: 'https://bank.test', body: { amount: 5 }, note: 'new' };
    const after = answer(
      { step_key: 'pay#1' },
      { step_key: 'pay#2', arguments: changed },
      { step_key: 'pay#4' },
    );
    const marks = comparedEffects(after, before);
    expect(marks.map(({ effect, mark }) => [effect.step_key, mark])).toEqual([
      ['pay#1', undefined],
      ['pay#2', 'changed'],
      ['pay#4', 'added'],
      ['pay#3', 'removed'],
    ]);
    expect(marks[1]!.rows).toEqual([
      { path: 'url', value: 'https://bank.test' },
      { path: 'body.amount', value: 5, before: { path: 'body.amount', value: 100 } },
      { path: 'note', value: 'new', before: null },
    ]);
  });
});

const request = (id: string, params: object, rest: object = {}) =>
  ({ id, kind: 'tool', tool_name: 'http_request', params, ...rest }) as never;

/** Pays through a bank that does not exist, so what follows an approval fails. */
const paying = (settings: object = {}) => ({
  nodes: [
    { id: 'review', kind: 'human_gate', prompt: 'Pay {amount} to {who}?', ...settings } as never,
    mock('quote', { output: { price: 7 } }, { label: 'Ask for a quote' }),
    request(
      'pay',
      {
        url: 'https://bank.invalid/pay',
        method: 'POST',
        body: { to: '{who}', amount: '{amount}', note: 'at {quote.price}' },
      },
      { label: 'Pay the supplier' },
    ),
    { id: 'large', kind: 'condition', expression: 'quote.price > 5' } as never,
    request('tell', { url: 'https://mail.invalid/large' }),
    request('refuse', { url: 'https://mail.invalid/{who}', method: 'POST' }, { label: 'Refuse' }),
    { id: 'second', kind: 'human_gate', prompt: 'More?' } as never,
    request('last', { url: 'https://mail.invalid/last', method: 'POST' }),
  ],
  edges: [
    ...[edge('review', 'quote', 'true'), edge('quote', 'pay'), edge('review', 'refuse', 'false')],
    ...[edge('pay', 'large'), edge('large', 'tell', 'true'), edge('pay', 'second')],
    edge('second', 'last'),
  ],
});

const tools = useToolServer();

const amountForm = {
  input_schema: {
    type: 'object',
    required: ['amount'],
    properties: { amount: { type: 'integer', title: 'Amount', maximum: 1_000 } },
  },
};

describeConsole('a gate shows what its answers set in motion', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const paused = async (settings: object = {}, graph = paying(settings)): Promise<string> => {
    const workflowId = await stage.engine.define(graph);
    const runId = await stage.engine.trigger(workflowId, { who: 'Ada', amount: 100 });
    await stage.engine.until(runId, ['paused']);
    return runId;
  };
  const list = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const approves = (page: Page) => list(page, 'If you approve');
  const decide = (page: Page, name: 'Approve' | 'Reject') =>
    page.getByRole('form', { name: 'Decision' }).getByRole('button', { name });
  const sentBodies = (page: Page): any[] => {
    const bodies: any[] = [];
    page.on('request', (request) => {
      const body = request.url().endsWith('/approve') ? request.postDataJSON() : undefined;
      if (body !== undefined && body.only_check !== true) bodies.push(body);
    });
    return bodies;
  };
  const end = (runId: string) => stage.call('POST', `/api/runs/${runId}/cancel`);

  test('with arguments, what is not known yet, and what comes after', async () => {
    const runId = await paused({ timeout_seconds: 3600, on_timeout: 'reject' });
    const { page, context, problems } = await stage.open(`/approvals/${runId}/review`);
    const approved = approves(page);
    await approved.getByText('1 write, 2 reads').waitFor();
    const rows = approved.getByRole('listitem');
    await rows
      .filter({ hasText: 'Pay the supplier' })
      .getByText('Calls bank.invalid with')
      .waitFor();
    const args = approved.getByRole('table', { name: 'Arguments of Pay the supplier' });
    const row = (name: string) => args.getByRole('row').filter({ hasText: name });
    await row('body.amount').getByText('100', { exact: true }).waitFor();
    await row('body.note').getByText('Not known yet: reads quote.price').waitFor();
    await rows.filter({ hasText: 'large' }).getByText('only if quote.price > 5 is true').waitFor();
    await approved.getByText('Then the run waits for another decision: second.').waitFor();
    await approved.getByText(/^1 more step can follow/).waitFor();
    await list(page, 'If you reject').getByText('https://mail.invalid/Ada').waitFor();
    await list(page, 'If no one decides in time').getByText('The same as if you reject.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
    await end(runId);
  });

  test('live with the input of its form, and approves exactly that', async () => {
    const runId = await paused(amountForm);
    const { page, context } = await stage.open(`/runs/${runId}`, { scheme: 'dark' });
    const bodies = sentBodies(page);
    const approved = approves(page);
    await page.getByText('These lists are without it.').waitFor();
    await list(page, 'If you reject').getByText('https://mail.invalid/Ada').waitFor();
    await page.getByLabel('Amount').fill('5');
    const paid = approved.getByRole('listitem').filter({ hasText: 'Pay the supplier' });
    await paid.getByText('Changed', { exact: true }).waitFor();
    await paid.locator('del').getByText('100').waitFor();
    await paid.locator('ins').getByText('5', { exact: true }).waitFor();
    await page.getByText('Marked: what your input changes.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    // An input that does not fit keeps the last lists.
    await page.getByLabel('Amount').fill('5000');
    await page.getByText(/the last valid ones\. .*amount must be <= 1000/).waitFor();
    await paid.locator('ins').getByText('5', { exact: true }).waitFor();
    await page.getByLabel('Amount').fill('6');
    await paid.locator('ins').getByText('6', { exact: true }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['failed']);
    const { body } = await stage.call('GET', `/api/runs/${runId}/gates/review`);
    const digest = expect.stringMatching(/^sha256:/);
    expect(bodies).toMatchObject([{ approved: true, input: { amount: 6 }, digest }]);
    const shown = body.consequences.approve.effects.find((each: Effect) => each.node_id === 'pay');
    expect(shown.arguments.body.amount).toBe(6);
    await context.close();
  });

  test('and asks to look again at what has changed since it was read', async () => {
    const runId = await paused({ required: 2 });
    const { page, context } = await stage.open(`/approvals/${runId}/review`);
    const bodies = sentBodies(page);
    await approves(page).getByText('100', { exact: true }).waitFor();
    await page.getByLabel('Reason').fill('as agreed');
    // The page reads nothing until it has sent its decision.
    let reads = false;
    await page.route('**/api/runs/**', async (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname.endsWith('/approve')) reads = true;
      if (reads) await route.continue();
      else await route.abort();
    });
    const ben = await personOf(stage, { name: 'Ben', role: 'editor' });
    const url = `/api/runs/${runId}/approve`;
    const { status } = await stage.call('POST', url, { input: { amount: 5 } }, ben.token);
    expect(status).toBe(200);
    await decide(page, 'Approve').click();
    await page
      .getByRole('alert')
      .getByText(/^What happens has changed since you read it/)
      .waitFor();
    const paid = approves(page).getByRole('listitem').filter({ hasText: 'Pay the supplier' });
    await paid.locator('del').getByText('100').waitFor();
    await paid.locator('ins').getByText('5', { exact: true }).waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('as agreed');
    expect(bodies).toEqual([]);
    expect(await obstacles(page)).toEqual([]);
    await decide(page, 'Approve').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['failed']);
    expect(bodies).toMatchObject([{ reason: 'as agreed', digest: expect.any(String) }]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });

  test('and does not approve what the last keystroke of its form changed unseen', async () => {
    const runId = await paused(amountForm);
    const { page, context } = await stage.open(`/runs/${runId}`);
    const bodies = sentBodies(page);
    await page.getByLabel('Amount').fill('5');
    const paid = approves(page).getByRole('listitem').filter({ hasText: 'Pay the supplier' });
    await paid.locator('ins').getByText('5', { exact: true }).waitFor();
    // Only the check of a decision has a digest. The page learns what follows from the input after its answer.
    const { promise: checked, resolve } = Promise.withResolvers<undefined>();
    await page.route('**/approve', async (route) => {
      if (route.request().postDataJSON().digest === undefined) await checked;
      await route.continue();
    });
    page.on('response', (response) => {
      if (response.status() === 409) resolve(undefined);
    });
    await page.getByLabel('Amount').fill('900');
    await page.keyboard.press('Control+Enter');
    await page
      .getByRole('alert')
      .getByText(/^What happens has changed since you/)
      .waitFor();
    await paid.locator('ins').getByText('900', { exact: true }).waitFor();
    expect(bodies).toEqual([]);
    await decide(page, 'Approve').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['failed']);
    expect(bodies).toMatchObject([{ input: { amount: 900 } }]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });

  test('after a step that asks for itself, with what its call is', async () => {
    const asking = tools.node('pay', {
      ...{ label: 'Pay the supplier', approval: 'always' },
      params: { url: `${tools.url}/pay`, method: 'POST', body: { amount: '{amount}' } },
    });
    const runId = await paused({}, chain(asking, tools.node('tell')) as never);
    const { page, context, problems } = await stage.open(`/approvals/${runId}/pay`);
    await approves(page).getByText('After this call:').waitFor();
    await approves(page).getByRole('listitem').getByText('tell', { exact: true }).waitFor();
    await page.getByText('the step is executed with exactly these arguments.').waitFor();
    await list(page, 'If you reject').getByText('Nothing is executed.').waitFor();
    expect(await page.getByText('Turn', { exact: true }).count()).toBe(0);
    expect(await obstacles(page)).toEqual([]);
    await decide(page, 'Approve').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['success']);
    expect(tools.calls('pay').map(({ body }) => JSON.parse(body))).toEqual([{ amount: 100 }]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('and what a recheck found, which the approver can accept', async () => {
    tools.answer('quote', { body: { price: 7 } });
    const quote = tools.node('quote', { params: { url: `${tools.url}/quote`, method: 'GET' } });
    const ask = { id: 'ask', kind: 'human_gate', prompt: 'Pay {quote.body.price}?', recheck: true };
    const runId = await paused({}, chain(quote, ask as never) as never);
    tools.answer('quote', { body: { price: 9 } });
    const { page, context } = await stage.open(`/runs/${runId}`);
    await page.getByText(/^An approval first repeats these reads/).waitFor();
    await decide(page, 'Approve').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    const found = page.getByRole('alert').filter({ hasText: 'What this gate shows has changed' });
    await found.getByText('quote.body.price').waitFor();
    await found.locator('del').getByText('7').waitFor();
    await found.locator('ins').getByText('9').waitFor();
    await page.getByText('Not approved: ask').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await found.getByLabel('Approve anyway').check();
    await decide(page, 'Approve').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['success']);
    const { steps } = await stage.engine.run(runId);
    const asked = steps.find(({ node_id }) => node_id === 'ask');
    expect(asked?.decision).toMatchObject({ approved: true });
    await context.close();
  });

  soakTest('and the page of decisions says where a step was not as approved', async () => {
    const runId = await paused();
    await stage.engine.db.query(sql.type(z.object({}))`
      INSERT INTO governance_events (workspace_id, type, workflow_id, version, run_id, node_id, policy, decision, reason,
                                     evidence)
      SELECT workspace_id, 'approval_mismatch', workflow_id, workflow_version, id, 'pay', 'approval', 'blocked',
             'Not sent: body.amount would not be what was shown', '{"step_key": "pay#1", "paths": ["body.amount", "url"]}'
      FROM runs WHERE id = ${runId}`);
    const { page, context } = await stage.open(`/policy-log?run_id=${runId}`);
    const card = page.getByRole('article', { name: 'Not as approved' });
    await card.getByRole('button', { name: 'Show evidence' }).click();
    await card.getByText('Different from what was approved').waitFor();
    await card.getByText('body.amount, url', { exact: true }).waitFor();
    await card.getByText('pay#1', { exact: true }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await context.close();
    await end(runId);
  });

  soakTest('and that an input withdraws earlier approvals', async () => {
    const runId = await paused({ ...amountForm, required: 3 });
    const ben = await personOf(stage, { name: 'Ben', role: 'editor' });
    const url = `/api/runs/${runId}/approve`;
    await stage.call('POST', url, { input: { amount: 7 } }, ben.token);
    const { page, context } = await stage.open(`/runs/${runId}`);
    await page.getByLabel('Amount').fill('7');
    await page.getByText('These lists include your input.').waitFor();
    const warning = page.getByRole('alert').getByText(/withdraws the earlier approval by Ben/);
    expect(await warning.count()).toBe(0);
    await page.getByLabel('Amount').fill('8');
    await warning.waitFor();
    await decide(page, 'Approve').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    const rules = page.getByRole('group', { name: 'Approval rules' });
    await rules.getByText('1 of 3 approved').waitFor();
    await context.close();
    await end(runId);
  });

  soakTest('without arguments for those who cannot decide', async () => {
    const runId = await paused();
    const viewer = await personOf(stage, { name: 'Vera', role: 'viewer' });
    const { page, context } = await stage.open(`/approvals/${runId}/review`, viewer);
    await list(page, 'If it is approved').getByText('Pay the supplier').waitFor();
    await page.getByText('You need the approve_gates permission to view the arguments.').waitFor();
    expect(await page.getByRole('table', { name: /^Arguments of/ }).count()).toBe(0);
    expect(await obstacles(page)).toEqual([]);
    await context.close();
    await end(runId);
  });

  soakTest('folded when there are many, with the keyboard', async () => {
    const count = 200;
    const nodes = Array.from({ length: count }, (_, at) =>
      request(`send${at}`, { url: `https://mail.invalid/${at}`, method: at < 5 ? 'GET' : 'POST' }),
    );
    const review = { id: 'review', kind: 'human_gate', prompt: 'All?' } as never;
    const edges = nodes.map((_, at) => edge('review', `send${at}`, 'true'));
    const runId = await paused({}, { nodes: [review, ...nodes], edges });
    const { page, context } = await stage.open(`/approvals/${runId}/review`, { width: 390 });
    const approved = approves(page);
    await approved.getByText('195 writes, 5 reads').waitFor();
    const rows = approved.getByRole('listitem');
    expect(await rows.count()).toBe(10);
    await approved.getByRole('button', { name: 'Show 190 more' }).press('Enter');
    expect(await rows.count()).toBe(count);
    const focused = await page.evaluate(`document.activeElement.textContent`);
    expect(focused).toContain('send15');
    await rows
      .nth(count - 1)
      .getByText('Read', { exact: true })
      .waitFor();
    await list(page, 'If you reject').getByText('Nothing is executed.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    expect(widths).toEqual([390, 390]);
    await context.close();
    await end(runId);
  });
});
