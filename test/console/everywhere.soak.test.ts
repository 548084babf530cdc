import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Visit } from './browser.ts';
import { type Everything, hostile, makeEverything } from './everything.ts';

const router = readFileSync(join(import.meta.dirname, '../../console/src/router.tsx'), 'utf8');

type Scheme = 'light' | 'dark';
interface View {
  width: number;
  scheme: Scheme;
}

const NARROWEST = 360;
/** Each page is looked at in the next one of each line, so that all views are seen on some pages in every run. */
const VIEWS: readonly View[][] = [
  [
    { width: 1280, scheme: 'light' },
    { width: 1920, scheme: 'dark' },
    { width: 1280, scheme: 'dark' },
    { width: 1920, scheme: 'light' },
  ],
  [
    { width: NARROWEST, scheme: 'dark' },
    { width: 390, scheme: 'light' },
    { width: 390, scheme: 'dark' },
  ],
];
/** With `CONSOLE_VIEWS=all`, each page is looked at in every view. */
const everyView = process.env['CONSOLE_VIEWS'] === 'all';
const HEIGHT = 900;
/** Time for transitions of colors and charts. */
const SETTLE_MS = 300;
/** Pages open at once; enough to keep two processors busy. */
const LANES = 3;
const env = { ENCRYPTION_KEY: 'a key for the tests alone', DELIVERY_BACKOFF_SECONDS: '0.02' };

/** One or more addresses for each path of the router. A path without one fails the first test. */
const addresses: Record<string, (of: Everything) => string[]> = {
  '/login': () => ['/login'],
  '/signup': () => ['/signup'],
  '/invite': ({ inviteCode }) => [`/invite?code=${inviteCode}`],
  '/decide': () => ['/decide'],
  '/authorize': ({ authorizeQuery }) => [`/authorize?${authorizeQuery}`],
  '/': () => ['/'],
  '/runs': () => ['/runs'],
  '/runs/$runId': ({ runId, failedRunId, pausedRunId, agentRunId }) => [
    `/runs/${runId}?step=tell`,
    `/runs/${runId}?tab=log`,
    `/runs/${runId}?tab=data`,
    `/runs/${failedRunId}`,
    `/runs/${pausedRunId}`,
    `/runs/${agentRunId}`,
    `/runs/${agentRunId}?step=triage`,
    `/runs/${agentRunId}?step=triage%2F2.1&tab=log`,
  ],
  '/runs/$runId/compare/$otherId': ({ runId, failedRunId, agentRunId }) => [
    `/runs/${runId}/compare/${failedRunId}?step=tell`,
    `/runs/${failedRunId}/compare/${agentRunId}?step=a`,
  ],
  '/approvals': () => ['/approvals'],
  '/approvals/decided': () => ['/approvals/decided'],
  '/approvals/$runId/$nodeId': ({ pausedRunId, gateNodeId, agentRunId }) => [
    `/approvals/${pausedRunId}/${gateNodeId}`,
    `/approvals/${agentRunId}/triage?step=triage%2F2.1`,
  ],
  '/workflows': () => ['/workflows'],
  '/workflows/$workflowId': ({ workflowId }) => [
    `/workflows/${workflowId}`,
    ...['versions', 'triggers', 'checks', 'settings', 'experiments'].map(
      (tab) => `/workflows/${workflowId}?tab=${tab}`,
    ),
  ],
  '/experiments/$experimentId': ({ experimentId }) => [`/experiments/${experimentId}`],
  '/workflows/$workflowId/edit': ({ workflowId }) => [`/workflows/${workflowId}/edit`],
  '/templates': () => ['/templates'],
  '/schedules': () => ['/schedules'],
  '/queues': () => ['/queues'],
  '/events': () => ['/events', '/events?show=waiting'],
  '/events/$eventId': ({ sentEventId }) => [`/events/${sentEventId}`],
  '/tools': () => ['/tools'],
  '/connections': () => ['/connections', '/connections?result=error&reason=denied'],
  '/secrets': () => ['/secrets'],
  '/budgets': () => ['/budgets'],
  '/usage': () => ['/usage'],
  '/policies': () => ['/policies'],
  '/policy-log': () => ['/policy-log'],
  '/governance': () => ['/governance'],
  '/help': () => ['/help'],
  '/audit': () => ['/audit'],
  '/members': () => ['/members'],
  '/members/$memberId': ({ memberId }) => [`/members/${memberId}`],
  '/keys': () => ['/keys'],
  '/settings': () => ['/settings'],
  '/account': () => ['/account'],
  '/data': () => ['/data'],
  '/data/feeds/$feedId': ({ feedId }) => [`/data/feeds/${feedId}`],
  '/data/entities': () => ['/data/entities'],
  '/data/entities/$entityId': ({ entityId }) => [`/data/entities/${entityId}`],
  '/data/changes': () => ['/data/changes'],
  '/data/keys': () => ['/data/keys'],
  '/webhooks': () => ['/webhooks'],
  '/webhooks/$endpointId': ({ endpointId }) => [`/webhooks/${endpointId}`],
};

describeConsole(
  'every page of the console',
  (stage) => {
    let all: Everything;
    beforeAll(async () => {
      all = await makeEverything(stage());
    }, 60_000);

    test('has an address in this test', () => {
      const paths = [...router.matchAll(/^\s*path: '([^']+)'/gm)].map(([, path]) => path);
      expect(paths.length).toBeGreaterThan(30);
      expect(paths.filter((path) => addresses[path ?? ''] === undefined)).toEqual([]);
    });

    test(
      'shows hostile data as text, without errors, on desktop and phone, light and dark',
      async () => {
        const wanted = Object.values(addresses)
          .flatMap((of) => of(all))
          .map((path, at) => ({ path, views: viewsOf(at) }));
        const found: string[] = [];
        const lane = async (): Promise<void> => {
          const visit = await stage().open('/no-such-page');
          for (;;) {
            const next = wanted.shift();
            if (next === undefined) break;
            found.push(...(await lookAt(visit, stage().url, next)));
          }
          await visit.context.close();
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        expect(found).toEqual([]);
      },
      everyView ? 1_600_000 : 400_000,
    );

    test('fits the timeline labels on a phone for any length of wait', async () => {
      const { engine, open, url } = stage();
      const { page, context } = await open('/no-such-page');
      await page.setViewportSize({ width: NARROWEST, height: HEIGHT });
      for (const waited of ['105 s', '11 min', '55 min', '30 hours', '795 s']) {
        await engine.db.query(sql.type(z.object({}))`
          WITH gate AS (UPDATE gates SET opened_at = now() - ${waited}::interval WHERE run_id = ${all.pausedRunId})
          UPDATE runs SET created_at = now() - ${waited}::interval, started_at = now() - ${waited}::interval
          WHERE id = ${all.pausedRunId}`);
        // In the last case, the steps also move before the wait, so that the wait is at the right edge.
        if (waited === '795 s') {
          await engine.db.query(sql.type(z.object({}))`
            WITH moved AS (
              UPDATE steps SET started_at = started_at - ${waited}::interval,
                finished_at = finished_at - ${waited}::interval, queued_at = queued_at - ${waited}::interval
              WHERE run_id = ${all.pausedRunId} RETURNING started_at, queued_at)
            UPDATE runs SET created_at = (SELECT min(queued_at) FROM moved), started_at = (SELECT min(queued_at) FROM moved)
            WHERE id = ${all.pausedRunId}`);
        }
        await page.goto(`${url}/runs/${all.pausedRunId}`);
        await settled(page, 'light');
        expect([waited, await tooWide(page, NARROWEST)]).toEqual([waited, []]);
      }
      await context.close();
    });

    test('shows names as plain text', async () => {
      for (const path of [
        '/workflows',
        `/workflows/${all.workflowId}`,
        `/data/feeds/${all.feedId}`,
      ]) {
        const { page, context } = await stage().open(path);
        await page.getByText(hostile.script).first().waitFor();
        await context.close();
      }
    });

    test('shows only part of a one-megabyte output', async () => {
      const { page, context } = await stage().open(`/runs/${all.runId}?tab=data`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page
        .getByText(/ of 9[\d,]+ characters/)
        .first()
        .waitFor();
      const shown = await page.evaluate('document.body.innerText.length');
      expect(shown).toBeLessThan(50_000);
      await context.close();
    });

    test('updates the same run for two people', async () => {
      const { call, engine, open } = stage();
      const graph = {
        nodes: [
          { id: 'ask', kind: 'human_gate', prompt: 'Go on?' },
          { id: 'after', kind: 'agent', label: 'Say so', mock: { output: 'It went on' } },
        ],
        edges: [{ source: 'ask', target: 'after' }],
      };
      const { body: workflow } = await call('POST', '/api/workflows', { name: 'Shared', graph });
      const { body: run } = await call('POST', `/api/workflows/${workflow.id}/runs`, {});
      await engine.until(run.id, ['paused']);
      const visits = await Promise.all([open(`/runs/${run.id}`), open(`/runs/${run.id}`)]);
      const states = visits.map(({ page }) => page.getByRole('main').getByText('paused').first());
      await Promise.all(states.map((state) => state.waitFor()));
      await call('POST', `/api/runs/${run.id}/approve`, { approved: true });
      await Promise.all(
        visits.map(({ page }) => page.getByRole('main').getByText('success').first().waitFor()),
      );
      expect(visits.flatMap(({ problems }) => problems)).toEqual([]);
      await Promise.all(visits.map(({ context }) => context.close()));
    });
  },
  { env },
);

const viewsOf = (at: number): View[] =>
  everyView ? VIEWS.flat() : VIEWS.map((line) => line[at % line.length]!);

/** The problems of a page, each with the page's address. */
async function lookAt(
  { page, problems }: Visit,
  url: string,
  { path, views }: { path: string; views: View[] },
): Promise<string[]> {
  problems.length = 0;
  const found: string[] = [];
  try {
    for (const [at, { width, scheme }] of views.entries()) {
      await page.setViewportSize({ width, height: HEIGHT });
      await page.emulateMedia({ colorScheme: scheme });
      if (at === 0) await page.goto(url + path);
      await settled(page, scheme);
      const seen = [...(await obstacles(page)), ...(await tooWide(page, width))];
      found.push(...seen.map((what) => `${scheme}, ${width}: ${what}`));
    }
    found.push(...(await page.evaluate<string[]>(ESCAPED)));
  } catch (error) {
    found.push(String(error));
  }
  return [...found, ...problems].map((what) => `${path}: ${what}`);
}

/** Waits until the heading is shown and nothing is loading. */
async function settled(page: Page, scheme: Scheme): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  // The page's policy blocks evaluation, so the test waits for elements.
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' });
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await page.waitForTimeout(SETTLE_MS);
}

async function tooWide(page: Page, width: number): Promise<string[]> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
  return wide > width ? [`it is ${wide} px wide`] : [];
}

/** Hostile data that was rendered as more than text. */
const ESCAPED = `[
  ...(window.owned === undefined ? [] : ['foreign script ran']),
  ...[...document.querySelectorAll('img[src="x"], main script, main b')].map((element) => 'markup: ' + element.outerHTML.slice(0, 100)),
  ...[...document.querySelectorAll('a[href]')].filter(({ href }) => !/^(https?:|mailto:|blob:)/.test(href)).map(({ href }) => 'link: ' + href.slice(0, 100)),
]`;
