import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { eventually } from '#test/support/engine.ts';
import { describeConsole } from './browser.ts';

describeConsole('queues', (stage) => {
  const call = async (method: string, path: string, body?: unknown): Promise<any> =>
    (await stage().call(method, path, body)).body;

  test('limits are set in the settings, and the queue names who holds a slot and who waits', async () => {
    const gate = { id: 'ok', kind: 'human_gate', prompt: 'Is it fine?' };
    const graph = { nodes: [gate], edges: [] };
    const { id } = await call('POST', '/api/workflows', { name: 'Ship orders', graph });
    const { page, problems, context } = await stage().open(`/workflows/${id}?tab=settings`);
    await page.getByLabel('Runs in flight at a time').fill('1');
    await page.getByLabel('Key', { exact: true }).fill('{customer}');
    await page.getByLabel('Hold the slot while a person decides').uncheck();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Limits saved').waitFor();
    expect(await call('GET', `/api/workflows/${id}/limits`)).toMatchObject({
      concurrency: { limit: 1, key: '{customer}', on_limit: 'queue', hold_while_paused: false },
    });
    await page.getByLabel('Hold the slot while a person decides').check();
    await page.getByRole('button', { name: 'Save limits' }).click();
    await eventually(
      async () =>
        (await call('GET', `/api/workflows/${id}/limits`)).concurrency.hold_while_paused === true,
    );

    const runs: { id: string }[] = [];
    for (let n = 0; n < 3; n += 1) {
      runs.push(await call('POST', `/api/workflows/${id}/runs`, { customer: 'acme' }));
    }
    await page.goto(`${stage().url}/runs/${runs[2]!.id}`);
    const note = page.getByRole('region', { name: 'Its queue' });
    await note.getByText('Queued: number 2 of 2 for acme').waitFor();
    await page.getByText('Queued', { exact: true }).first().waitFor();
    expect(await obstacles(page)).toEqual([]);
    await note.getByRole('link', { name: 'Show queue' }).click();
    const table = page.getByRole('table', { name: 'Queue of Ship orders' });
    await table.getByRole('row').filter({ hasText: 'In flight' }).waitFor();
    // What was read before is shown until the queue is read again.
    await table.getByRole('row').nth(3).waitFor();
    expect(await table.getByRole('row').count()).toBe(4);
    expect(await obstacles(page)).toEqual([]);
    await table.getByRole('row').nth(2).getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click();
    await page.getByText('Run cancelled').waitFor();
    await expect(call('GET', `/api/runs/${runs[1]!.id}`)).resolves.toMatchObject({
      status: 'failed',
      queued: null,
    });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a wait for further triggers is set in the settings, and their run says until when it waits', async () => {
    const gate = { id: 'ok', kind: 'human_gate', prompt: 'Is it fine?' };
    const graph = { nodes: [gate], edges: [] };
    const { id } = await call('POST', '/api/workflows', { name: 'Sync orders', graph });
    const { page, problems, context } = await stage().open(`/workflows/${id}?tab=settings`);
    await page.getByLabel('Wait for further triggers, in seconds').fill('600');
    await page.getByLabel('Key of the triggers').fill('{customer}');
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Limits saved').waitFor();
    expect(await call('GET', `/api/workflows/${id}/limits`)).toMatchObject({
      debounce: { seconds: 600, key: '{customer}' },
    });

    const first = await call('POST', `/api/workflows/${id}/runs`, { customer: 'acme', order: 1 });
    const next = await call('POST', `/api/workflows/${id}/runs`, { customer: 'acme', order: 2 });
    expect(next.id).toBe(first.id);
    await page.goto(`${stage().url}/runs/${first.id}`);
    const note = page.getByRole('region', { name: 'Its queue' });
    await note.getByText('Waits for further triggers for acme, until').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await note.getByRole('link', { name: 'Show queue' }).click();
    const table = page.getByRole('table', { name: 'Queue of Sync orders' });
    await table.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click();
    await page.getByText('Run cancelled').waitFor();
    await expect(call('GET', `/api/runs/${first.id}`)).resolves.toMatchObject({
      status: 'failed',
      input: { customer: 'acme', order: 2 },
      queued: null,
    });
    expect(problems).toEqual([]);
    await context.close();
  });

  test('events that cancel runs are set in the settings, and the event names what it cancelled', async () => {
    const gate = { id: 'ok', kind: 'human_gate', prompt: 'Is it fine?' };
    const graph = { nodes: [gate], edges: [] };
    const { id } = await call('POST', '/api/workflows', { name: 'Ship parcels', graph });
    const { page, problems, context } = await stage().open(`/workflows/${id}?tab=settings`);
    const form = page.getByRole('group', { name: 'Events that cancel runs' });
    await form.getByRole('button', { name: 'Add event' }).click();
    await form.getByRole('button', { name: 'Add event' }).click();
    await form.getByLabel('Event 1', { exact: true }).fill('day.over');
    await form.getByLabel('Event 2', { exact: true }).fill('order.cancelled');
    await form.getByLabel('Event 2 only if').fill('event.data.order > order');
    await form.getByRole('button', { name: 'Remove event 1' }).click();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Limits saved').waitFor();
    expect(await call('GET', `/api/workflows/${id}/limits`)).toMatchObject({
      cancel_on: [{ event: 'order.cancelled', match: 'event.data.order > order' }],
    });

    const run = await call('POST', `/api/workflows/${id}/runs`, { order: 1 });
    await call('POST', `/api/workflows/${id}/runs`, { order: 'two' });
    const event = await call('POST', '/api/events', {
      name: 'order.cancelled',
      data: { order: 2 },
    });
    await eventually(async () => (await call('GET', `/api/events/${event.id}`)).cancelled === 1);
    await page.goto(`${stage().url}/events/${event.id}`);
    await page.getByRole('heading', { name: 'Runs it cancelled' }).waitFor();
    await page.getByText('Not cancelled: The match failed').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: `Run ${run.id.slice(-6)}` }).click();
    await page.getByText(`Cancelled by event 'order.cancelled' (${event.id})`).first().waitFor();
    await page.goto(`${stage().url}/events`);
    await page.getByText('Cancelled 1 run').waitFor();
    await page.goto(`${stage().url}/workflows/${id}?tab=settings`);
    await form.getByText('The match of an event failed').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
