import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  [390, 1440].map((width) => ({ scheme, width })),
);

describeConsole('the documentation site', (stage) => {
  test.each(looks)(
    'has no obstacles and is no wider than the window, $scheme, $width px wide',
    async ({ scheme, width }) => {
      const { page, context, problems } = await stage().open('/docs/guide/', { scheme, width });
      for (const address of [
        '',
        'approvals',
        'graphs',
        'console',
        'decisions/0002-outbox',
        'nothing',
      ]) {
        await page.goto(`${stage().url}/docs/guide/${address}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.getByRole('link', { name: 'API reference', exact: true }).first().waitFor();
        expect([address, await obstacles(page)]).toEqual([address, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
      expect(problems).toEqual([`404: ${stage().url}/docs/guide/nothing`]);
      await context.close();
    },
  );

  test('finds a heading, from the service alone', async () => {
    const { page, context, problems } = await stage().open('/docs/guide/');
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(stage().url)) foreign.push(request.url());
    });
    await page.keyboard.press('/');
    await page.keyboard.insertText('recheck approvals');
    await page.getByText(/^\d+ results?$/).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('link', { name: 'Approvals › Recheck' }).click();
    await page.waitForURL('**/docs/guide/approvals#recheck');
    await page.getByRole('heading', { level: 2, name: 'Recheck' }).waitFor();
    await page.getByRole('searchbox').fill('zzzzqqqq');
    await page.getByText('No results').waitFor();
    expect(foreign).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('keeps the scheme that a reader chooses, copies code and leads to the next page', async () => {
    const { page, context, problems } = await stage().open('/docs/guide/cli', { scheme: 'light' });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Light', exact: true }).waitFor();
    expect(await page.getAttribute('html', 'data-scheme')).toBe('dark');
    const code = page.locator('.code').first();
    await code.getByRole('button', { name: 'Copy' }).click();
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      (await code.locator('code').innerText()).trimEnd(),
    );
    const next = page.locator('a[rel=next]');
    const target = await next.getAttribute('href');
    await next.click();
    await page.waitForURL(`**${target}`);
    expect(problems).toEqual([]);
    await context.close();
  });
});
