import { expect, test } from '@jest/globals';
import { describeConsole } from './browser.ts';

describeConsole('a file of the console that does not arrive', (opened) => {
  test('leaves the frame, and is loaded as soon as it can be', async () => {
    const { page, context } = await opened().open('/login');
    let loads = 0;
    page.on('domcontentloaded', () => (loads += 1));
    await page.route('**/assets/run-list-*.js', (route) => route.abort());
    await page.goto(`${opened().url}/settings`);
    await page.getByRole('heading', { name: 'Workspace', level: 1 }).waitFor();
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true });
    await pages.getByRole('link', { name: 'Runs' }).click();
    const bar = page.getByText('A part of the console could not be loaded.');
    await bar.waitFor();
    expect(await page.getByRole('banner').isVisible()).toBe(true);
    await pages.getByRole('link', { name: 'Spend' }).click();
    await page.getByRole('heading', { name: 'Budgets', level: 1 }).waitFor();
    await pages.getByRole('link', { name: 'Runs' }).click();
    await page.unroute('**/assets/run-list-*.js');
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await bar.waitFor({ state: 'detached' });
    expect(loads).toBe(1);
    await context.close();
  });

  test('asks for a reload if the service has a newer console', async () => {
    const { page, context } = await opened().open('/login');
    await page.route('**/assets/run-list-*.js', (route) => route.fulfill({ status: 404 }));
    await page.goto(`${opened().url}/settings`);
    await page.route(`${opened().url}/`, (route) =>
      route.fulfill({ body: '<script src="/assets/index-newer.js">' }),
    );
    await page.getByText('A new version of the console is installed.').waitFor();
    await page.unroute('**/assets/run-list-*.js');
    await page.unroute(`${opened().url}/`);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Workspace', level: 1 }).waitFor();
    await page.getByText('A new version').waitFor({ state: 'detached' });
    await context.close();
  });
});
