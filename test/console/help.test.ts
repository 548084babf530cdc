import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

describeConsole('the help', (stage) => {
  test('has the guides with linked headings, the shortcuts and the version, from the service alone', async () => {
    const { page, context, problems } = await stage().open('/');
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(stage().url)) foreign.push(request.url());
    });
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
    await pages.getByRole('link', { name: 'Help' }).click();
    await page.getByText(/^Version \d/).waitFor();
    await page.getByText('Go to Approvals').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: /^Who decides at a gate/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
    const heading = page.getByRole('heading', { level: 2, name: 'Recheck' });
    await heading.getByRole('link').click();
    await page.waitForURL('**/help/approvals#recheck');
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('main').getByRole('link', { name: 'The evidence of a run' }).click();
    await page.waitForURL('**/help/evidence');
    await page.getByRole('heading', { level: 1, name: 'Evidence of a run' }).waitFor();
    await page.goto(`${stage().url}/help/approvals#recheck`);
    await heading.waitFor();
    await page.waitForFunction('window.scrollY > 500');
    await page.goto(`${stage().url}/help/no-such-guide`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(foreign).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('the former path of the policy log leads to it, with its filters', async () => {
    const { page, context, problems } = await stage().open('/governance?decision=denied');
    await page.waitForURL('**/policy-log?decision=denied');
    await page.getByRole('heading', { level: 1, name: 'Policy log' }).waitFor();
    expect(await page.title()).toBe('Policy log · Durable workflows');
    expect(problems).toEqual([]);
    await context.close();
  });
});
