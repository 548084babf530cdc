import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole, placeOf } from './browser.ts';

describeConsole('the check of the editor', (opened) => {
  const made = async (required: number): Promise<string> => {
    const gate = { id: 'ask', kind: 'human_gate', label: 'Ask', prompt: 'Go on?', required };
    const graph = { nodes: [gate], edges: [] };
    const { body } = await opened().call('POST', '/api/workflows', { name: 'Asks', graph });
    return body.id;
  };

  test('is that of the service, before a draft is run or published', async () => {
    const id = await made(1);
    const { page, context, problems } = await opened().open(`/workflows/${id}/edit?node=ask`);
    await page.getByRole('tab', { name: 'Check' }).click();
    await page.getByText('No problems. Ready to run.').waitFor();
    await page.getByRole('tab', { name: 'Selection' }).click();
    await page.getByRole('button', { name: 'Approvers', exact: true }).click();
    const add = page.getByRole('button', { name: 'Add node' });
    const before = await placeOf(add);
    await page.getByLabel('Required approvals').fill('2');
    await page.getByText('Unsaved changes').waitFor();
    expect(await placeOf(add)).toEqual(before);
    await page.getByRole('tab', { name: 'Check (1)' }).click();
    const problem = page.getByText(/2 approvals are required, but only 1 member can decide/);
    await problem.waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const run = page.getByRole('dialog', { name: 'Run this draft' });
    await run.getByText('Problems of this draft').waitFor();
    await run.getByText(/2 approvals are required/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const publish = page.getByRole('dialog', { name: 'Publish this draft?' });
    await publish.getByText(/2 approvals are required/).waitFor();
    const send = publish.getByRole('button', { name: 'Publish draft' });
    expect(await send.isDisabled()).toBe(true);
    expect(await obstacles(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Require 1 approval' }).click();
    await page.getByText('No problems. Ready to run.').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await publish.getByText('Note').waitFor();
    await send.click();
    await page.getByText('Version 2 published').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('says why a graph cannot run where it would be run', async () => {
    const { body } = await opened().call('POST', '/api/workflows', { name: 'Empty' });
    const { page, context } = await opened().open(`/workflows/${body.id}`);
    const run = page.getByRole('button', { name: 'Run', exact: true });
    await run.waitFor();
    await page.locator('button[aria-disabled="true"]', { hasText: 'Run' }).hover();
    await page.getByText('Cannot run yet. The graph has no nodes').waitFor();
    expect(await run.isDisabled()).toBe(true);
    await page.goto(`${opened().url}/workflows/${body.id}/edit`);
    await page.locator('button[aria-disabled="true"]', { hasText: 'Run' }).click({ force: true });
    await page.getByRole('tab', { name: 'Check (1)', selected: true }).waitFor();
    await context.close();
  });
});
