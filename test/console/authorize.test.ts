import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { newVerifier, challengeFor } from '#test/api/authorizations/authorization-stage.ts';
import { PASSWORD } from '#test/support/people.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

const OWNER = 'owner@example.com';
/** The router of the console would read and write this as another number. */
const STATE = '12345678901234567890';

describeConsole(
  'a member who connects a client',
  (stage) => {
    /** The client's own page, to which the browser returns. */
    let client: Server;
    let callback: string;
    const seen: string[] = [];
    beforeAll(async () => {
      client = createServer((request, response) => {
        if (request.url?.startsWith('/callback') === true) seen.push(request.url);
        response.setHeader('content-type', 'text/html');
        response.end('<h1>Connected</h1>');
      });
      await new Promise<void>((resolve) => {
        client.listen(0, '127.0.0.1', resolve);
      });
      callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`;
    });
    afterAll(() => {
      client.close();
    });

    const token = async (): Promise<string> => {
      const { body } = await stage().call('POST', '/api/auth/login', {
        email: OWNER,
        password: PASSWORD,
      });
      return body.token;
    };
    const register = async (name: string): Promise<string> => {
      const metadata = { client_name: name, redirect_uris: [callback] };
      return (await stage().call('POST', '/api/oauth/register', metadata)).body.client_id;
    };
    const pageOf = async (name: string, change: Record<string, string> = {}): Promise<string> => {
      const verifier = newVerifier();
      const asked = new URLSearchParams({
        client_id: await register(name),
        redirect_uri: callback,
        response_type: 'code',
        code_challenge: challengeFor(verifier),
        code_challenge_method: 'S256',
        resource: `${stage().url}/api/mcp`,
        state: STATE,
        ...change,
      });
      return `/authorize?${asked.toString()}`;
    };
    const answered = async (page: Page): Promise<URLSearchParams> => {
      await page.getByRole('heading', { name: 'Connected' }).waitFor();
      return new URL(page.url()).searchParams;
    };
    const listed = async (by: Stage['call'], session: string) =>
      (await by('GET', '/api/authorizations', undefined, session)).body;

    test('signs in first, unticks what it should not do, allows it, and revokes it in the profile', async () => {
      const { page, problems } = await stage().open(await pageOf('Editor of Ada'));
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await page.getByLabel('Email').fill(OWNER);
      await page.locator('input[type="password"]').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page
        .getByRole('heading', { name: 'Allow Editor of Ada to use this workspace?' })
        .waitFor();
      await page.getByText('This name is not verified').waitFor();
      await page.getByText(`a program on this computer (${new URL(callback).host})`).waitFor();
      expect(await obstacles(page)).toEqual([]);
      expect(await page.getByLabel('See workflows, runs').isDisabled()).toBe(true);
      await page.getByText('Runs use the accounts that you have signed in to').waitFor();
      await page.getByLabel('Create and edit workflows').uncheck();
      await page.getByRole('button', { name: 'Allow' }).click();
      const answer = await answered(page);
      expect(answer.get('code')).toMatch(/^mcpc_/);
      expect([answer.get('state'), answer.get('iss')]).toEqual([STATE, stage().url]);
      const session = await token();
      expect((await listed(stage().call, session))[0].scopes).toEqual(['view', 'run']);

      await page.goto(`${stage().url}/account`);
      const row = page.getByRole('row').filter({ hasText: 'Editor of Ada' });
      await row.getByText('view, run').waitFor();
      await row.getByRole('button', { name: 'Revoke Editor of Ada' }).click();
      await page.getByRole('button', { name: 'Revoke access' }).click();
      await page.getByText('No clients have access.').waitFor();
      expect(await listed(stage().call, session)).toEqual([]);
      // The identity is read before the sign-in.
      expect(problems.filter((problem) => !problem.includes('401'))).toEqual([]);
    });

    test('cannot be shown in a frame of another page', async () => {
      const document = await fetch(`${stage().url}/authorize`, {
        headers: { accept: 'text/html' },
      });
      expect(document.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(document.headers.get('x-frame-options')).toBe('DENY');
    });

    test('denies, and the client gets an error and nothing else', async () => {
      const { page } = await stage().open(await pageOf('Denied'), { token: await token() });
      await page.getByRole('button', { name: 'Deny' }).click();
      const answer = await answered(page);
      expect([answer.get('error'), answer.get('state'), answer.get('code')]).toEqual([
        'access_denied',
        STATE,
        null,
      ]);
      expect(await listed(stage().call, await token())).toEqual([]);
    });

    test('has to tick decisions, which are never proposed', async () => {
      const path = await pageOf('Decider', { scope: 'view run decide' });
      const { page } = await stage().open(path, { token: await token() });
      const decide = page.getByLabel('Approve and reject gates in your name');
      expect(await decide.isChecked()).toBe(false);
      await page.getByRole('button', { name: 'Allow' }).click();
      await answered(page);
      const [authorization] = await listed(stage().call, await token());
      expect(authorization.scopes).toEqual(['view', 'run']);
    });

    test('stays on the page with a request that cannot be allowed, and returns only by a click', async () => {
      const before = seen.length;
      const path = await pageOf('Wrong', { code_challenge_method: 'plain' });
      const { page } = await stage().open(path, { token: await token() });
      await page.getByText('This request cannot be allowed').waitFor();
      expect(seen.length).toBe(before);
      await page.getByRole('button', { name: /^Return to 127/ }).click();
      expect((await answered(page)).get('error')).toBe('invalid_request');
    });

    test('gets no way to an address that the client has not registered', async () => {
      const path = await pageOf('Evil', { redirect_uri: 'https://evil.example/' });
      const { page } = await stage().open(path, { token: await token() });
      await page.getByRole('alert').getByText('The redirect_uri is not one').waitFor();
      expect(await page.getByRole('button', { name: /Allow|Deny|Return/ }).count()).toBe(0);
      const twice = await stage().open(`${await pageOf('Twice')}&scope=view&scope=decide`, {
        token: await token(),
      });
      await twice.page.getByText('it has a parameter twice').waitFor();
    });
  },
  {
    env: {
      AUTH_MODE: 'required',
      OWNER_EMAIL: OWNER,
      OWNER_PASSWORD: PASSWORD,
      SECRET_KEY: 'of this test',
    },
  },
);
