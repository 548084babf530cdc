import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole, type Visit } from './browser.ts';

describeConsole('events', (stage) => {
  const settled = async ({ page, problems, context }: Visit): Promise<void> => {
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  };
  const call = async (method: string, path: string, body?: unknown): Promise<any> =>
    (await stage().call(method, path, body)).body;
  const define = async (name: string, nodes: object[]): Promise<string> =>
    (await call('POST', '/api/workflows', { name, graph: { nodes, edges: [] } })).id;
  const agent = { id: 'a', kind: 'agent', prompt: '{n}', mock: { output: 'x' } };

  test('start runs by triggers, which are created, changed and deleted', async () => {
    const id = await define('Thank for payments', [agent]);
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.getByText('No event triggers yet').waitFor();
    await page.getByRole('button', { name: 'New event trigger' }).click();
    const dialog = page.getByRole('dialog', { name: 'New event trigger' });
    await dialog.getByRole('textbox', { name: 'Event' }).fill('payment.received');
    await dialog.getByRole('textbox', { name: 'Only if' }).fill('amount > 100');
    await dialog.getByRole('button', { name: 'Create event trigger' }).click();
    await dialog.getByText(/Match reads 'amount', but a trigger has only the event/).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Only if' }).fill('event.data.amount > 100');
    await dialog.getByRole('button', { name: 'Create event trigger' }).click();
    const table = page.getByRole('table', { name: 'Event triggers' });
    await table.getByText('event.data.amount > 100').waitFor();

    await call('POST', '/api/events', { name: 'payment.received', data: { amount: 500 } });
    // The list refreshes by itself.
    await table
      .getByRole('link', { name: 'View run, the last one for payment.received' })
      .waitFor();
    await call('POST', '/api/events', { name: 'payment.received', data: { amount: 'much' } });
    await table.getByText(/The match failed/).waitFor();
    await table.getByRole('switch').press('Space');
    await page.getByText('Event trigger disabled').waitFor();
    await table.getByRole('button', { name: 'Actions for payment.received' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete event trigger' }).click();
    await page.getByText('No event triggers yet').waitFor();
    // The refused match.
    expect(visit.problems.splice(0)).toEqual([expect.stringMatching(/^400: .*\/triggers$/)]);
    await settled(visit);
  });

  test('have a list of waits that also has callbacks', async () => {
    const workflow = await define('Wait for a partner', [
      { id: 'paid', kind: 'wait', callback: true, label: 'The payment' },
    ]);
    const run = await call('POST', `/api/workflows/${workflow}/runs`, {});
    const visit = await stage().open(`/runs/${run.id}`);
    const { page } = visit;
    const note = page.getByRole('region', { name: 'What the run waits for' });
    await note.getByText('waits for a callback').waitFor();
    await page.goto(`${stage().url}/events?show=waiting`);
    const row = page.getByRole('row').filter({ hasText: 'Wait for a partner' });
    await row.getByText('A callback', { exact: true }).waitFor();
    await page.goto(`${stage().url}/workflows/${workflow}/edit`);
    await page.getByText('a callback', { exact: true }).first().waitFor();
    await call('POST', `/api/runs/${run.id}/cancel`);
    await settled(visit);
  });

  test('are sent, listed by name, and show what they did', async () => {
    const thanks = await define('Thank the shop', [agent]);
    await call('POST', `/api/workflows/${thanks}/triggers`, { event: 'order.shipped' });
    const waiting = await define('Wait for orders', [
      { id: 'shipped', kind: 'wait', event: { name: 'order.shipped' }, label: 'The order' },
    ]);
    const run = await call('POST', `/api/workflows/${waiting}/runs`, {});
    const visit = await stage().open(`/runs/${run.id}`);
    const { page } = visit;
    const note = page.getByRole('region', { name: 'What the run waits for' });
    await note.getByRole('link', { name: 'order.shipped' }).waitFor();
    expect(await obstacles(page)).toEqual([]);

    await page.goto(`${stage().url}/events?show=waiting`);
    await page.getByRole('table').getByRole('link', { name: 'The order' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByText('Sent', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Send event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('order.shipped');
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send event' }).click();

    await page.getByRole('heading', { name: 'order.shipped' }).waitFor();
    await page.getByRole('link', { name: 'shipped', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Thank the shop' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    const first = page.url();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL((url) => url.href !== first);

    await page.getByRole('link', { name: /^Run \w{6}$/ }).click();
    await page.getByRole('link', { name: 'Started by an event' }).waitFor();
    await page.goto(`${stage().url}/events`);
    await page.getByRole('textbox', { name: 'Name' }).fill('order.shipped');
    await page.waitForURL(/name=order\.shipped/);
    await page.getByText('Ended 1 wait, started 1 run').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      390,
    );
    await settled(visit);
  });
});
