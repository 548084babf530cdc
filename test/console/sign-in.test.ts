import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { nextPath } from '#console/src/pages/sign-in/next-path.ts';
import { echo, edge } from '#test/support/engine.ts';
import { addMember, invite, newEmail, PASSWORD } from '#test/support/people.ts';
import { soakTest } from '#test/support/soak.ts';
import { describeConsole, type Stage } from './browser.ts';

const OWNER = 'owner@example.com';

describe('the page after sign-in', () => {
  const origin = 'https://console.example';
  test.each([
    ['/approvals/run_1/a%20b?x=1#y', '/approvals/run_1/a%20b?x=1#y'],
    ['/', '/'],
    [undefined, '/'],
    ['', '/'],
    ['runs', '/'],
    ['https://evil.example/', '/'],
    ['https://console.example/runs', '/'],
    ['//evil.example/runs', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['\t//evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/runs/..//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/login?next=%2Flogin', '/'],
  ])('for %j is %j', (next, path) => {
    expect(nextPath(next, origin)).toBe(path);
    expect(new URL(path, origin).origin).toBe(origin);
  });
});

/** Not by label, since the button that shows the password has the same label. */
const passwordOf = (page: Page) => page.locator('input[type="password"]');

async function fillIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await passwordOf(page).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The API client for `test/support/people.ts`. */
const callerOn = (stage: Stage) =>
  ({
    call: (method: string, url: string, body: unknown, headers?: Record<string, string>) =>
      stage.call(method, url, body, headers?.['authorization']?.replace('Bearer ', '')),
  }) as unknown as Parameters<typeof addMember>[0];

describeConsole(
  'signing in',
  (stage) => {
    const ownerToken = async (): Promise<string> => {
      const login = { email: OWNER, password: PASSWORD };
      return (await stage().call('POST', '/api/auth/login', login)).body.token;
    };
    const asOwner = async () => ({ authorization: `Bearer ${await ownerToken()}` });

    soakTest('returns to the gate linked from an alert, on a phone', async () => {
      const { engine, open } = stage();
      const gate = { id: 'ask', kind: 'human_gate', label: 'Send it?', prompt: 'Really?' } as const;
      const workflowId = await engine.define({
        nodes: [echo('draft'), gate],
        edges: [edge('draft', 'ask')],
      });
      const runId = await engine.trigger(workflowId);
      await engine.until(runId, ['paused']);
      const { page } = await open(`/approvals/${runId}/ask`, { width: 390, height: 800 });
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(page.url()).toContain('/login?next=');
      await fillIn(page, OWNER, PASSWORD);
      await page.getByRole('heading', { name: 'Send it?', level: 2 }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/approvals/${runId}/ask`);
      await page.getByText('Really?').first().waitFor();
      await page.getByRole('button', { name: 'Approve' }).waitFor();
    });

    test('reports a wrong password and keeps the email', async () => {
      const { page } = await stage().open('/approvals');
      await fillIn(page, OWNER, 'not the password');
      await page.getByRole('alert').getByText('Wrong email or password').waitFor();
      expect(await page.getByLabel('Email').inputValue()).toBe(OWNER);
      await fillIn(page, OWNER, PASSWORD);
      await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    });

    soakTest('never redirects to another host', async () => {
      const next = encodeURIComponent('//evil.example/steal');
      const { page } = await stage().open(`/login?next=${next}`);
      await fillIn(page, OWNER, PASSWORD);
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/');
    });

    soakTest('requires approval by an administrator after a sign-up', async () => {
      const { open, call } = stage();
      const email = newEmail();
      const { page } = await open('/login');
      await page.getByRole('link', { name: 'Sign up' }).click();
      await page.getByLabel('Name').fill('Ann');
      await page.getByLabel('Email').fill(email);
      await passwordOf(page).fill('too short');
      await page.getByRole('button', { name: 'Sign up' }).click();
      // The browser's validation refuses a short password.
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sign up');
      await passwordOf(page).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('heading', { name: 'Waiting for approval' }).waitFor();
      await page.getByRole('link', { name: 'sign in', exact: true }).click();
      await fillIn(page, email, PASSWORD);
      await page.getByRole('alert').getByText('is waiting for approval').waitFor();

      const token = await ownerToken();
      const members = (await call('GET', '/api/members', undefined, token)).body;
      const { id } = members.find((member: { email: string }) => member.email === email);
      await call('POST', `/api/members/${id}/approve`, undefined, token);
      await fillIn(page, email, PASSWORD);
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    });

    test('accepts an invite code once', async () => {
      const { code } = await invite(callerOn(stage()), { role: 'editor', by: await asOwner() });
      const { page } = await stage().open(`/invite?code=${code}`);
      expect(await page.getByLabel('Invite code').inputValue()).toBe(code);
      await passwordOf(page).fill(PASSWORD);
      await page.getByRole('button', { name: 'Join' }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      const again = await stage().open(`/invite?code=${code}`);
      await passwordOf(again.page).fill(PASSWORD);
      await again.page.getByRole('button', { name: 'Join' }).click();
      await again.page.getByRole('alert').getByText('already used').waitFor();
    });

    soakTest('is required again, with a notice, when the session ended elsewhere', async () => {
      const member = await addMember(callerOn(stage()), { role: 'viewer', by: await asOwner() });
      const { page } = await stage().open('/approvals', { token: member.token });
      await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
      const change = { current_password: PASSWORD, new_password: 'another horse battery' };
      await stage().call('POST', '/api/auth/password', change, member.token);
      await page.getByRole('status').getByText('Your session has ended').waitFor();
      await fillIn(page, member.email, 'another horse battery');
      await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    });

    soakTest('signs all tabs in and out together', async () => {
      const member = await addMember(callerOn(stage()), { role: 'viewer', by: await asOwner() });
      const { page, context } = await stage().open('/approvals', { token: member.token });
      const other = await context.newPage();
      await other.goto(`${stage().url}/templates`);
      await other.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await other.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await other.getByText('Your session has ended').count()).toBe(0);
      await fillIn(page, member.email, PASSWORD);
      await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
      await other.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    });
  },
  { env: { AUTH_MODE: 'required', OWNER_EMAIL: OWNER, OWNER_PASSWORD: PASSWORD } },
);

describeConsole('in open mode', (stage) => {
  test('the sign-in page says that sign-in is not required, and continues', async () => {
    const { page } = await stage().open('/login?next=%2Ftemplates');
    await page.getByText('sign-in is not required').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
  });

  soakTest('an invalid token is dropped', async () => {
    const { page } = await stage().open('/templates', { token: 'of.another.time' });
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('workflows.session'))).toBeNull();
  });
});
