import { beforeAll, expect, test } from '@jest/globals';
import type { WebSocketRoute } from 'playwright-core';
import { eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { describeConsole, personOf, pressInDialog, type Stage } from './browser.ts';
import { patiently } from '#test/support/patience.ts';

describeConsole('pages without a reload', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const addTool = async (name: string): Promise<void> => {
    const tool = { name, endpoint_url: 'http://127.0.0.1:9/' };
    expect((await stage.call('POST', '/api/tools', tool)).status).toBe(201);
  };

  test('show what others change', async () => {
    const { page, context, problems } = await stage.open('/tools');
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    await addTool('first-tool');
    await page
      .getByText('first-tool')
      .first()
      .waitFor({ timeout: patiently(5_000) });
    await page.goto(`${stage.url}/audit`);
    await page.getByRole('heading', { name: 'Audit log', exact: true }).waitFor();
    await page.waitForTimeout(1_000);
    await addTool('second-tool');
    await page
      .getByText('second-tool')
      .first()
      .waitFor({ timeout: patiently(5_000) });
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('show what changed before the stream opened', async () => {
    const { page, context, problems } = await stage.open('/login');
    let connect = (): void => undefined;
    const allowed = new Promise<void>((resolve) => (connect = resolve));
    await page.routeWebSocket(/\/api\/stream/, async (socket) => {
      await allowed;
      socket.connectToServer();
    });
    await page.goto(`${stage.url}/tools`);
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    await addTool('early-tool');
    expect(await page.getByText('early-tool').count()).toBe(0);
    connect();
    await page.getByText('early-tool').first().waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('do not read what is being removed', async () => {
    const { page, context, problems } = await stage.open('/login');
    const person = await personOf(stage, { name: 'Leaving', role: 'viewer' });
    const path = `/members/${person.id}`;
    await page.route(`**/api${path}`, async (route) => {
      if (route.request().method() !== 'DELETE') return route.continue();
      const response = await route.fetch();
      // The stream names the removal before the page has its response.
      await addTool('tool-of-someone-else');
      await page.waitForTimeout(3_000);
      await route.fulfill({ response });
    });
    await page.goto(stage.url + path);
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await pressInDialog(page, 'Remove member');
    await page.waitForURL(/\/members$/);
    await page.getByRole('heading', { name: 'Leaving' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('catch up after a broken stream', async () => {
    const { page, context, problems } = await stage.open('/login');
    let refused = false;
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/api\/stream/, (socket) => {
      if (refused) return void socket.close({ code: 1001, reason: 'gone' });
      sockets.push(socket);
      socket.connectToServer();
    });
    await page.goto(`${stage.url}/tools`);
    await page.getByRole('heading', { name: 'Tools', exact: true }).waitFor();
    await eventually(() => sockets.length > 0);
    refused = true;
    for (const socket of sockets) await socket.close({ code: 1001, reason: 'gone' });
    await addTool('third-tool');
    // It cannot be reopened, so the page reads what it shows.
    await page.getByText('third-tool').first().waitFor();
    const before = sockets.length;
    refused = false;
    await eventually(() => sockets.length > before);
    await addTool('fourth-tool');
    await page.getByText('fourth-tool').first().waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
