import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { describeConsole, pressInDialog } from './browser.ts';
import { patiently } from '#test/support/patience.ts';

/** Short backoff: eight attempts end within a few seconds. */
const env = { DELIVERY_BACKOFF_SECONDS: '0.02', ENCRYPTION_KEY: 'a key for the tests alone' };

let receiver: FakeServer;
let answer = 200;
beforeAll(async () => {
  receiver = await startHttpServer((_request, response) => {
    response.writeHead(answer).end(`answered ${answer}`);
  });
});
afterAll(() => receiver.close());

const permit = (stage: string, key = 'A-1') => ({
  type: 'entity',
  external_key: key,
  entity_type: 'permit',
  canonical_name: `Permit ${key}`,
  attributes: { stage, value: 12_000 },
  geography: { city: 'Austin', region: 'TX', country: 'US' },
  confidence: key === 'A-1' ? 0.9 : 0.4,
  source_evidence: [
    { source_name: 'City portal', url: 'https://permits.example/A-1' },
    { source_name: 'Somebody', url: 'javascript:alert(1)' },
  ],
});
const filed = {
  type: 'event',
  external_key: 'A-1 filed',
  event_type: 'permit_filed',
  primary_external_key: 'A-1',
  occurred_at: '2026-11-01T09:00:00Z',
  summary: 'Permit A-1 was filed',
};

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** The marked section of the sidebar, and the list to which the detail page leads back. */
const placeOf = (page: Page): Promise<string[]> =>
  page
    .locator('nav a[aria-current], nav[aria-label="Breadcrumb"] a')
    .allTextContents()
    .then((names) => names.toSorted());

describeConsole(
  'data pages',
  (stage) => {
    /** Creates a feed with records; also returns the id of the first record. */
    const fill = async (name: string): Promise<{ feedId: string; entityId: string }> => {
      const { call } = stage();
      const feed = await call('POST', '/api/data/feeds', { name });
      const feedId: string = feed.body.id;
      const records = [permit('filed'), permit('filed', 'B-2'), filed];
      await call('POST', '/api/data/ingest', { feed_id: feedId, records });
      await call('POST', '/api/data/ingest', { feed_id: feedId, records: [permit('granted')] });
      const { body } = await call('GET', `/api/data/entities?feed_id=${feedId}&confidence_min=0.8`);
      return { feedId, entityId: body.entities[0].id };
    };

    test('create a feed, and show the record sent with the suggested command', async () => {
      const { open, call, url } = stage();
      const { page, problems } = await open('/data');
      await page.getByRole('button', { name: 'Create feed' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Permits');
      await pressInDialog(page, 'Create feed');
      await heading(page, 'Permits').waitFor();
      expect(await placeOf(page)).toEqual(['Data', 'Feeds']);
      const feedId = page.url().split('/').at(-1) ?? '';
      const command = await page.getByLabel('the command', { exact: true }).innerText();
      expect(command).toContain(`curl -X POST ${url}/api/data/ingest`);
      const body = /-d '(\{.*\})'$/s.exec(command)?.[1] ?? '';
      expect(JSON.parse(body)).toMatchObject({ feed_id: feedId });
      const sent = await call('POST', '/api/data/ingest', JSON.parse(body));
      expect(sent.body).toMatchObject({ created: 1, refused: 0 });
      await page.reload();
      await page.getByRole('link', { name: 'Riverside Tower' }).waitFor();

      await page.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('button', { name: 'Reactivate' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await pressInDialog(page, 'Delete feed');
      await heading(page, 'Feeds').waitFor();
      const after = await call('GET', `/api/data/feeds/${feedId}`);
      expect([after.status, problems]).toEqual([404, []]);
    });

    soakTest('show the sources, changes and events of a record', async () => {
      const { entityId } = await fill('Record');
      const { page, problems } = await stage().open(`/data/entities/${entityId}`);
      await heading(page, 'Permit A-1').waitFor();
      expect(await placeOf(page)).toEqual(['Data', 'Records']);
      const attributes = page.getByRole('table', { name: 'Attributes' });
      await attributes.getByRole('row', { name: 'stage granted' }).waitFor();
      const changed = page.getByRole('table', { name: 'Changes in version 2' });
      await changed.getByRole('row', { name: 'stage filed granted' }).waitFor();
      expect(await changed.getByRole('row').count()).toBe(2);
      await page.getByText('Permit A-1 was filed').waitFor();
      const portal = page.getByRole('link', { name: 'City portal' });
      expect(await portal.getAttribute('href')).toBe('https://permits.example/A-1');
      expect(await page.getByRole('link', { name: 'Somebody' }).count()).toBe(0);
      expect(await page.getByText('javascript:alert(1)').count()).toBe(1);
      expect(problems).toEqual([]);
    });

    soakTest('keep the record filters in the URL, both ways', async () => {
      const { feedId } = await fill('Filters');
      const { page } = await stage().open(`/data/entities?feed_id=${feedId}`);
      const rows = page.getByRole('table', { name: 'Records' }).getByRole('row');
      await page.getByRole('link', { name: 'Permit B-2' }).waitFor();
      expect(await rows.count()).toBe(3);
      await page.getByRole('combobox', { name: 'Confidence' }).click();
      await page.getByRole('option', { name: 'At least 80%' }).click();
      await page.getByRole('link', { name: 'Permit B-2' }).waitFor({ state: 'detached' });
      await eventually(async () => (await rows.count()) === 2);
      expect(new URL(page.url()).searchParams.get('confidence_min')).toBe('0.8');
      await page.getByRole('textbox', { name: 'Type' }).fill('no_such_type');
      await page.getByText('No matching records').waitFor();
      const again = await stage().open(
        `/data/entities?feed_id=${feedId}&confidence_min=0.8&geography=austin`,
      );
      await again.page.getByRole('link', { name: 'Permit A-1' }).waitFor();
      const city = again.page.getByRole('textbox', { name: 'City, region or country' });
      expect(await city.inputValue()).toBe('austin');
    });

    test('show new changes without a reload', async () => {
      const { feedId } = await fill('Stream');
      const { page } = await stage().open(`/data/changes?feed_id=${feedId}`);
      const row = (name: RegExp) =>
        page.getByRole('table', { name: 'Changes' }).getByRole('row', { name });
      await row(/stage from filed to granted/).waitFor();
      await stage().call('POST', '/api/data/ingest', {
        feed_id: feedId,
        records: [permit('built')],
      });
      await row(/stage from granted to built/).waitFor();
    });

    soakTest('record a source check, and show the last one', async () => {
      const source = { name: 'City portal', type: 'permit_portal', cadence: 'daily' };
      await stage().call('POST', '/api/data/sources', source);
      const { page } = await stage().open('/data');
      await page.getByRole('button', { name: 'Actions for City portal' }).click();
      await page.getByRole('menuitem', { name: 'Report check result' }).click();
      await page.getByRole('radio', { name: 'failed' }).check();
      await page.getByRole('textbox', { name: 'Error' }).fill('The portal returned 503');
      await pressInDialog(page, 'Report result');
      const row = page.getByRole('row', { name: /City portal/ });
      await row.getByText('The portal returned 503').waitFor();
      expect(await row.innerText()).toMatch(/Failed[\s\S]*daily/);
    });

    test('create a data key limited to its scopes, show its secret once, and revoke it', async () => {
      await fill('Keyed');
      const { open, url } = stage();
      const { page, problems } = await open('/data/keys');
      await page.getByRole('button', { name: 'New data key' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Warehouse');
      await page.getByRole('checkbox', { name: 'feeds:read' }).uncheck();
      await page.getByRole('textbox', { name: 'Credits per month' }).fill('100');
      await page.getByRole('button', { name: 'Create key' }).click();
      const secret = await page.getByLabel('the secret', { exact: true }).innerText();
      expect(secret).toMatch(/^svc_live_/);
      const ask = (path: string) =>
        fetch(url + path, { headers: { authorization: `Bearer ${secret}` } });
      const read = await ask('/v1/entities?limit=2');
      expect([read.status, (await ask('/v1/feeds')).status]).toEqual([200, 403]);

      await page.reload();
      const row = page.getByRole('row', { name: /Warehouse/ });
      await row.getByText('2 of 100').waitFor();
      expect(await page.content()).not.toContain(secret);
      await page.getByRole('button', { name: 'Revoke Warehouse' }).click();
      await pressInDialog(page, 'Revoke key');
      await row.waitFor({ state: 'detached' });
      expect((await ask('/v1/entities')).status).toBe(401);
      expect(problems).toEqual([]);
    });

    soakTest(
      'register an endpoint, show its failed attempts, and retry all failed deliveries',
      async () => {
        const { open } = stage();
        const { page, problems } = await open('/webhooks');
        await page
          .getByRole('button', { name: /(New|Create) endpoint/ })
          .first()
          .click();
        await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/hooks`);
        await page.getByRole('checkbox', { name: 'run.completed' }).check();
        await page.getByRole('checkbox', { name: 'run.failed' }).uncheck();
        await page.getByRole('dialog').getByRole('button', { name: 'Create endpoint' }).click();
        expect(await page.getByLabel('the secret', { exact: true }).innerText()).toMatch(/^whsec_/);
        await page.getByRole('button', { name: 'Close' }).click();
        await page.getByText('run.completed').first().waitFor();
        expect(await page.getByText('run.failed').count()).toBe(0);
        await page.getByRole('link', { name: `${receiver.url}/hooks` }).click();

        answer = 500;
        await page.getByRole('button', { name: 'Send test event' }).click();
        const row = page.getByRole('row', { name: /^(?!.*Attempt ).*ping/ });
        await row.getByText('Failed').waitFor({ timeout: patiently(5_000) });
        await row.getByRole('button', { name: /^Show attempts of/ }).click();
        const attempts = page.getByRole('table', { name: /^Attempts of/ }).getByRole('row');
        expect(await attempts.count()).toBe(1 + 8);
        expect(await attempts.nth(1).innerText()).toContain('500');

        answer = 200;
        await page.getByRole('button', { name: 'Retry all failed' }).click();
        await pressInDialog(page, 'Retry all');
        await row.getByText('Delivered', { exact: true }).waitFor({ timeout: patiently(5_000) });
        await page.getByRole('combobox', { name: 'Status' }).click();
        await page.getByRole('option', { name: 'Failed' }).click();
        await page.getByText('No failed deliveries').waitFor();
        expect(new URL(page.url()).searchParams.get('status')).toBe('dead');

        // A period, with what was delivered before.
        const before = receiver.seen.length;
        await page.getByRole('button', { name: 'Retry a period' }).click();
        const dialog = page.getByRole('dialog', { name: 'Retry deliveries' });
        const until = dialog.getByLabel('Created before');
        await until.fill('2026-01-01T00:00');
        await dialog.getByRole('button', { name: 'Retry deliveries' }).click();
        await dialog.getByText('until must not be less than since').waitFor();
        await until.fill('');
        await dialog.getByRole('combobox', { name: 'Deliveries' }).click();
        await page.getByRole('option', { name: 'Failed and delivered' }).click();
        await pressInDialog(page, 'Retry deliveries');
        await page.getByText('1 delivery scheduled for retry').last().waitFor();
        await eventually(() => receiver.seen.length === before + 1);
        expect(problems).toEqual([expect.stringMatching(/^400: .+redeliver$/)]);
      },
    );

    soakTest('show a listener without deliveries, and without a secret to roll', async () => {
      const { open, call } = stage();
      const body = { url: 'listen:ada', events: ['run.failed'] };
      const { id } = (await call('POST', '/api/webhooks', body)).body;
      const { page, problems } = await open('/webhooks');
      const row = page.getByRole('row', { name: /listen:ada.*Listener/ });
      await row.getByRole('link', { name: 'listen:ada' }).click();
      await page.getByText('Nothing is sent to a listener').waitFor();
      expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Roll secret' }).count()).toBe(0);
      expect(problems).toEqual([]);
      await call('DELETE', `/api/webhooks/${id}`);
    });

    soakTest('offer viewers no action that they cannot take', async () => {
      const { feedId } = await fill('Seen by viewers');
      const token = await viewerToken();
      for (const [path, title] of [
        ['/data', 'Feeds'],
        [`/data/feeds/${feedId}`, 'Seen by viewers'],
        ['/data/keys', 'Data keys'],
        ['/webhooks', 'Webhooks'],
      ] as const) {
        const { page, problems, context } = await stage().open(path, { token });
        await heading(page, title).waitFor();
        await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
        const offered = page.getByRole('main').getByRole('button', {
          name: /new|create|add|edit|delete|revoke|archive|roll|send|retry|report|actions/i,
        });
        expect([path, await offered.count(), problems]).toEqual([path, 0, []]);
        await context.close();
      }
    });

    const viewerToken = async (): Promise<string> => {
      const { call } = stage();
      const someone = { name: 'Vera', email: 'viewer@example.com', role: 'viewer' };
      const { body: invited } = await call('POST', '/api/members/invite', someone);
      const { body } = await call('POST', '/api/auth/accept-invite', {
        invite_code: invited.invite_code,
        password: 'correct horse battery',
      });
      return body.token;
    };
  },
  { env },
);
