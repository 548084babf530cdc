import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { argumentPlaces, valueAt, withValueAt } from '#console/src/parts/forms/argument-places.ts';
import { changedExcerpts } from '#console/src/parts/text/word-changes.ts';
import { obstacles } from './axe.ts';
import { describeConsole, placeOf, rewrite, type Stage } from './browser.ts';
import { startAgent } from './runs/agent-runs.ts';

describe('the places of arguments', () => {
  const given = { to: 'ann', body: { items: [{ n: 1 }, { n: 2 }], tags: [] } };

  test('are those of single values, and keep the order of keys when one changes', () => {
    const paths = argumentPlaces(given, given, undefined).map(({ path }) => path);
    expect(paths).toEqual(['to', 'body.items[0].n', 'body.items[1].n', 'body.tags']);
    const edited = withValueAt(given, ['body', 'items', 1, 'n'], 3);
    expect(JSON.stringify(edited)).toBe(JSON.stringify(given).replace('"n":2', '"n":3'));
    expect(valueAt(edited, ['body', 'items', 1, 'n'])).toBe(3);
    expect(given.body.items[1]).toEqual({ n: 2 });
    expect(withValueAt(given, ['to'], undefined)).toEqual({ body: given.body });
  });

  test('include what the approver adds, and optional values of the schema', () => {
    const schema = { properties: { to: {}, cc: { type: 'string' }, parts: { type: 'array' } } };
    const edited = { ...given, body: { ...given.body, tags: ['a'] }, copy: true };
    const paths = argumentPlaces(given, edited, schema).map(({ path }) => path);
    expect(paths).toEqual([
      ...['to', 'body.items[0].n', 'body.items[1].n', 'body.tags'],
      ...['copy', 'cc'],
    ]);
  });

  test('show only where long texts differ', () => {
    const text = (word: string) => `${'a '.repeat(5_000)}${word}${' b'.repeat(5_000)}`;
    const { before, after } = changedExcerpts(text('old'), text('new'), 300);
    expect(before).toMatch(/^…(a )+old( b)+…$/);
    expect(after).toBe(before.replace('old', 'new'));
    expect(before.length).toBeLessThan(200);
    expect(changedExcerpts('same start', 'same', 300)).toEqual({
      before: 'same start',
      after: 'same',
    });
  });
});

describeConsole('the arguments of a call', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const form = (page: Page) => page.getByRole('form', { name: 'Decision' });
  const table = (page: Page) => page.getByRole('table', { name: 'the arguments of entity_upsert' });
  const refundOf = (attributes: object) => ({
    ...{ feed_id: 'feed_1', external_key: 'A-1042', entity_type: 'refund' },
    ...{ canonical_name: 'Refund of order A-1042', attributes },
  });
  const asksFor = async (attributes: object): Promise<string> => {
    const call = { tool: 'entity_upsert', arguments: refundOf(attributes) };
    const runId = await startAgent(
      stage,
      [{ calls: [call] }, { output: 'done' }],
      [{ name: 'entity_upsert', approval: 'always' }],
    );
    await stage.engine.until(runId, ['paused']);
    return runId;
  };
  const sentBy = (page: Page): any[] => {
    const bodies: any[] = [];
    page.on('request', (request) => {
      const body = request.url().endsWith('/approve') ? request.postDataJSON() : undefined;
      if (body !== undefined && body.only_check !== true) bodies.push(body);
    });
    return bodies;
  };

  test('are approved with one change in three actions, without scrolling at 1280 by 800', async () => {
    const runId = await asksFor({ amount_usd: 240, order: 'A-1042', items: [{ sku: 'x', n: 2 }] });
    const { page, context, problems } = await stage.open(`/approvals/${runId}/triage`, {
      height: 800,
    });
    const sent = sentBy(page);
    const edit = page.getByRole('button', { name: 'Edit attributes.amount_usd' });
    const approve = form(page).getByRole('button', { name: /^Approve/ });
    const reject = form(page).getByRole('button', { name: /^Reject/ });
    for (const target of [edit, approve, reject]) {
      const { y, height } = await placeOf(target);
      expect(y).toBeGreaterThan(0);
      expect(y + height).toBeLessThanOrEqual(800);
    }
    expect(await obstacles(page)).toEqual([]);

    await edit.click();
    await page.keyboard.type('200');
    await form(page).getByRole('button', { name: 'Approve with 1 change' }).waitFor();
    // Only the changed path, with what was and what is.
    const changes = form(page).getByRole('status', { name: 'Changes' });
    expect((await changes.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      'attributes.amount_usd: from 240 → to 200',
    );
    expect(await obstacles(page)).toEqual([]);
    expect(await page.evaluate('scrollY')).toBe(0);
    await form(page).getByRole('button', { name: 'Approve with 1 change' }).click();

    const undo = page.getByRole('group', { name: 'Decision not sent yet' });
    await undo.getByText('Approved with 1 change: entity_upsert').waitFor();
    // The arguments show what is sent.
    const row = table(page).getByRole('row').filter({ hasText: 'attributes.amount_usd' });
    expect((await row.getByRole('cell').innerText()).replaceAll(/\s+/g, ' ')).toBe(
      'from 240 → to 200',
    );
    const { y, height } = await placeOf(undo);
    expect(y + height).toBeLessThanOrEqual(800);
    await undo.getByRole('button', { name: 'Send now' }).click();
    await undo.waitFor({ state: 'detached' });
    expect(sent).toMatchObject([
      {
        approved: true,
        arguments: refundOf({ amount_usd: 200, order: 'A-1042', items: [{ sku: 'x', n: 2 }] }),
      },
    ]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('list several changes by path, also in lists and long texts, and can be edited as JSON', async () => {
    const note = `${'Dear Ann, '.repeat(40)}the amount is 240. ${'Regards. '.repeat(40)}`;
    const runId = await asksFor({ note, items: [{ n: 1 }, { n: 2 }] });
    const { page, context } = await stage.open(`/approvals/${runId}/triage`);
    await form(page).getByRole('button', { name: 'Edit arguments' }).click();
    await table(page).getByLabel('attributes.items[1].n').fill('3');
    await table(page).getByLabel('attributes.note').fill(note.replace('240', '200'));
    const changes = form(page).getByRole('status', { name: 'Changes' });
    await changes.getByText('attributes.items[1].n').waitFor();
    await changes.locator('del').getByText('240').waitFor();
    await changes.locator('ins').getByText('200').waitFor();
    expect((await changes.innerText()).length).toBeLessThan(600);
    await form(page).getByRole('button', { name: 'Approve with 2 changes' }).waitFor();
    await form(page).getByRole('button', { name: 'Edit as JSON' }).click();
    const editor = form(page).getByRole('textbox', { name: 'Arguments to send' });
    await rewrite(editor, JSON.stringify(refundOf({ items: [{ n: 1 }, { n: 2 }] })));
    await form(page).getByRole('button', { name: 'Approve with 1 change' }).waitFor();
    await form(page).getByRole('button', { name: 'Discard changes' }).click();
    await form(page).getByRole('button', { name: 'Approve', exact: false }).waitFor();
    expect(await changes.count()).toBe(0);
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });

  test('stay usable with 500 values and a text of 100 kB', async () => {
    const values = Object.fromEntries(
      Array.from({ length: 498 }, (_, at) => [`value_${at}`, at] as const),
    );
    const runId = await asksFor({ ...values, text: 'word '.repeat(20_000) });
    const { page, context, problems } = await stage.open(`/approvals/${runId}/triage`);
    const sent = sentBy(page);
    await form(page).getByRole('button', { name: 'Show all 503 arguments' }).click();
    await table(page).getByRole('button', { name: 'Edit attributes.value_497' }).click();
    await page.keyboard.type('7');
    await table(page).getByRole('button', { name: 'Edit attributes.text' }).click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('first ');
    await page.keyboard.press('Control+Enter');
    const undo = page.getByRole('group', { name: 'Decision not sent yet' });
    await undo.getByText('Approved with 2 changes: entity_upsert').waitFor();
    await undo.getByRole('button', { name: 'Send now' }).click();
    await undo.waitFor({ state: 'detached' });
    const { attributes } = sent[0].arguments;
    expect(attributes.value_497).toBe(7);
    expect(attributes.text.slice(0, 16)).toBe('first word word ');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('leave the buttons in view on a phone and on a long page', async () => {
    const runId = await asksFor({ text: 'line\n'.repeat(300) });
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
    ] as const) {
      const { page, context } = await stage.open(`/approvals/${runId}/triage`, { width, height });
      const approve = form(page).getByRole('button', { name: /^Approve/ });
      for (const to of [0, 300, 10_000]) {
        await page.evaluate(`scrollTo(0, ${to})`);
        // On a phone, the list of gates is below the gate.
        if (width === 390 && to === 10_000) continue;
        const place = await placeOf(approve);
        expect(place.y).toBeGreaterThan(0);
        expect(place.y + place.height).toBeLessThanOrEqual(height);
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await obstacles(page)).toEqual([]);
      await context.close();
    }
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });
});
