import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

describeConsole('the help', (stage) => {
  test('has links to the guides, the shortcuts and the version, from the service alone', async () => {
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
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: /^Who decides at a gate/ }).click();
    const guide = await opened;
    await guide.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
    expect(guide.url()).toBe(`${stage().url}/docs/guide/approvals`);
    const hrefs = await page
      .locator('main a[href^="/docs"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
    expect(hrefs.length).toBeGreaterThan(30);
    for (const href of hrefs) {
      expect([href, (await page.request.get(stage().url + href)).status()]).toEqual([href, 200]);
    }
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
