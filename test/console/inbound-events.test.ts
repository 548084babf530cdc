import { expect, test } from '@jest/globals';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Visit } from './browser.ts';

describeConsole('the events of a webhook', (stage) => {
  const settled = async ({ page, problems, context }: Visit): Promise<void> => {
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  };
  const call = async (method: string, path: string, body?: unknown): Promise<any> =>
    (await stage().call(method, path, body)).body;
  const define = async (): Promise<{ id: string; hook: string }> => {
    const graph = {
      nodes: [{ id: 'a', kind: 'agent', prompt: '{n}', mock: { output: 'x' } }],
      edges: [],
    };
    const { id } = await call('POST', '/api/workflows', { name: 'Received', graph });
    const { url } = await call('POST', `/api/workflows/${id}/webhook`);
    return { id, hook: new URL(url).pathname };
  };
  const hostile = '<img src=x onerror="document.title=\'owned\'">\u202e';
  const send = (hook: string, body: string) =>
    fetch(`${stage().url}${hook}`, {
      method: 'POST',
      headers: { 'user-agent': '<script>document.title="owned"</script>' },
      body,
    });

  test('are listed with their bodies, filtered, and replayed by keyboard', async () => {
    const { id, hook } = await define();
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.getByText('No events yet').waitFor();
    await page.getByLabel('the command for a first event').first().waitFor();
    expect(await obstacles(page)).toEqual([]);

    await send(hook, JSON.stringify({ n: hostile }));
    await send(hook, `{"n": "${'x'.repeat(300)}"`);
    // The list refreshes by itself.
    await page.getByRole('table', { name: 'Events' }).getByText('Run started').waitFor();
    await page.getByText('Invalid body').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Refused' }).click();
    await page.getByText('Run started', { exact: true }).first().waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: /^Show details/ }).click();
    await page.getByText('The sender must send valid JSON in UTF-8.').waitFor();
    await page.getByRole('button', { name: /^Hide details/ }).click();

    // Chosen again, it is no filter any more.
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Refused' }).click();
    await page.getByText('Run started', { exact: true }).first().waitFor();
    await page
      .getByRole('button', { name: /^Show details/ })
      .last()
      .focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('the body').first().waitFor();
    expect(await page.getByLabel('the body').first().textContent()).toContain('<img src=x');
    expect(await page.getByLabel('the headers').first().textContent()).toContain('<script>');
    expect(await page.title()).not.toBe('owned');
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: /^Replay event iev_/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Replay event' }).click();
    await page.waitForURL(/\/runs\/run_/);
    const { events } = await call('GET', `/api/workflows/${id}/inbound-events?outcome=run`);
    expect(events[0].replays).toBe(1);
    await settled(visit);
  });

  test('are sent as events of the workspace, if the webhook is set to that', async () => {
    const { id, hook } = await define();
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.getByLabel('Send as event').fill('run.received');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText(/is reserved/).waitFor();
    await page.getByLabel('Send as event').fill('lead.received');
    expect(await page.getByLabel('Deduplication window (seconds)').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Webhook settings saved').waitFor();

    await send(hook, JSON.stringify({ n: hostile }));
    const table = page.getByRole('table', { name: 'Events' });
    await table.getByText('Event sent').waitFor();
    await page.getByRole('button', { name: /^Show details/ }).click();
    await page.getByRole('button', { name: /^Replay event iev_/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The event is sent again, with the body as its data.').waitFor();
    await dialog.getByRole('button', { name: 'Replay event' }).click();
    await page.waitForURL(/\/events\/evt_/);
    await page.getByRole('heading', { name: 'lead.received' }).waitFor();
    const { events } = await call('GET', '/api/events?name=lead.received');
    expect(events.map(({ source }: { source: string }) => source)).toEqual(['webhook', 'webhook']);
    // The refused name was a request that failed.
    visit.problems.length = 0;
    await settled(visit);
  });

  soakTest('are replayed for a period, with the progress', async () => {
    const { id, hook } = await define();
    for (let n = 0; n < 3; n += 1) await send(hook, `{"n": ${n}}`);
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.getByRole('button', { name: 'Replay events' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Events').click();
    await page.getByRole('option', { name: 'All' }).click();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Replay events' }).click();
    await page.getByText('Last replay finished').waitFor();
    await page.getByText(/3 of 3 events: 3 runs started/).waitFor();
    await page.mouse.move(0, 0);
    expect(await obstacles(page)).toEqual([]);
    await settled(visit);
  });

  soakTest('fit a phone', async () => {
    const { id, hook } = await define();
    await send(hook, '{');
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: /^Show details/ }).click();
    await page.getByText('What to do:').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      390,
    );
    expect(await obstacles(page)).toEqual([]);
    await settled(visit);
  });
});
