import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { createClient, type Client } from '#client/index.ts';
import { messageOf } from '#shared/errors.ts';
import { findApi } from './running-service.ts';
import { findChromium } from './stack/chromium.mjs';

/**
 * `npm run screenshots [-- --api <url>] [--all <folder>]`: takes screenshots of the console's pages from a running
 * service in open mode, with its current data. Without `--all`, it takes those in the documents and writes them to
 * docs/screenshots; with it, every page in both color schemes and at the width of a phone.
 */
const projectDir = join(import.meta.dirname, '..');
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** Charts and graphs load after the page's own data. */
const SETTLE_MS = 1_200;

interface Shot {
  name: string;
  path: string;
  documented?: boolean;
}

interface Look {
  folder: string;
  suffix: string;
  scheme: 'light' | 'dark';
  viewport: { width: number; height: number };
  fullPage: boolean;
}

/** All pages to capture. Pages of a single object show the newest of its kind. */
async function shotsOf(client: Client): Promise<Shot[]> {
  const { runs } = await client.listRuns({ limit: 50 });
  const { approvals } = await client.listApprovals();
  const workflows = await client.listWorkflows();
  const members = await client.listMembers();
  const [feed] = await client.listFeeds();
  const { entities } = await client.listEntities({ limit: 1 });
  const [endpoint] = await client.listEndpoints();
  const run = runs.find(({ status }) => status === 'paused') ?? runs[0];
  const failed = runs.find(({ status }) => status === 'failed');
  const other = runs.find(
    ({ id, workflow_id }) => id !== run?.id && workflow_id === run?.workflow_id,
  );
  const looped = runs.find(({ workflow_name: name }) => /loop/i.test(name));
  const gate = approvals[0];
  const workflow = workflows.find(({ id }) => id === run?.workflow_id) ?? workflows[0];
  const experiment = await newestExperiment(client, workflows);
  const part = (shot: Shot | false | undefined): Shot[] => (shot ? [shot] : []);
  return [
    { name: 'overview', path: '/', documented: true },
    { name: 'runs', path: '/runs' },
    ...part(run && { name: 'run', path: `/runs/${run.id}`, documented: true }),
    ...part(failed && { name: 'run-failed', path: `/runs/${failed.id}` }),
    ...part(looped && { name: 'run-loop', path: `/runs/${looped.id}` }),
    ...part(other && run && { name: 'run-compare', path: `/runs/${run.id}/compare/${other.id}` }),
    { name: 'approvals', path: '/approvals', documented: true },
    ...part(gate && { name: 'gate', path: `/approvals/${gate.run_id}/${gate.node_id}` }),
    { name: 'workflows', path: '/workflows' },
    ...(workflow === undefined ? [] : workflowShots(workflow.id)),
    ...part(experiment && { name: 'experiment', path: `/experiments/${experiment.id}` }),
    { name: 'templates', path: '/templates' },
    { name: 'schedules', path: '/schedules' },
    { name: 'tools', path: '/tools' },
    { name: 'secrets', path: '/secrets' },
    { name: 'budgets', path: '/budgets' },
    { name: 'usage', path: '/usage' },
    { name: 'policies', path: '/policies' },
    { name: 'policy-log', path: '/policy-log' },
    { name: 'audit', path: '/audit' },
    { name: 'members', path: '/members' },
    ...part(members[0] && { name: 'member', path: `/members/${members[0].id}` }),
    { name: 'keys', path: '/keys' },
    { name: 'account', path: '/account' },
    { name: 'settings', path: '/settings' },
    { name: 'data-feeds', path: '/data' },
    ...part(feed && { name: 'data-feed', path: `/data/feeds/${feed.id}` }),
    { name: 'data-entities', path: '/data/entities' },
    ...part(entities[0] && { name: 'data-entity', path: `/data/entities/${entities[0].id}` }),
    { name: 'data-changes', path: '/data/changes' },
    { name: 'data-keys', path: '/data/keys' },
    { name: 'webhooks', path: '/webhooks' },
    ...part(endpoint && { name: 'webhook', path: `/webhooks/${endpoint.id}` }),
    { name: 'login', path: '/login' },
    { name: 'signup', path: '/signup' },
    { name: 'invite', path: '/invite' },
  ];
}

const workflowShots = (id: string): Shot[] => [
  { name: 'workflow', path: `/workflows/${id}` },
  ...['versions', 'triggers', 'checks', 'settings'].map((tab) => ({
    name: `workflow-${tab}`,
    path: `/workflows/${id}?tab=${tab}`,
  })),
  { name: 'editor', path: `/workflows/${id}/edit`, documented: true },
];

async function newestExperiment(
  client: Client,
  workflows: readonly { id: string }[],
): Promise<{ id: string } | undefined> {
  for (const { id } of workflows) {
    const { experiments } = await client.listExperiments(id, { limit: 1 });
    if (experiments[0] !== undefined) return experiments[0];
  }
  return undefined;
}

async function take(browser: Browser, api: string, shots: Shot[], look: Look): Promise<void> {
  mkdirSync(look.folder, { recursive: true });
  const { scheme, viewport } = look;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  for (const { name, path } of shots) {
    await page.goto(api + path);
    await page.waitForSelector('h1');
    await page.waitForTimeout(SETTLE_MS);
    const file = join(look.folder, `${name}${look.suffix}.png`);
    await page.screenshot({ path: file, fullPage: look.fullPage });
    console.log(file);
  }
  await context.close();
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { api: { type: 'string' }, all: { type: 'string' } },
  });
  const executablePath = findChromium(process.env);
  if (executablePath === undefined) throw new Error('No Chromium or Chrome: set CHROMIUM_PATH');
  const api = findApi(values.api);
  const shots = await shotsOf(createClient({ baseUrl: api }));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    if (values.all === undefined) {
      const folder = join(projectDir, 'docs/screenshots');
      const look = {
        folder,
        suffix: '',
        scheme: 'light',
        viewport: DESKTOP,
        fullPage: false,
      } as const;
      await take(
        browser,
        api,
        shots.filter(({ documented }) => documented),
        look,
      );
      return;
    }
    const folder = values.all;
    for (const scheme of ['light', 'dark'] as const) {
      await take(browser, api, shots, {
        folder,
        suffix: `-${scheme}`,
        scheme,
        viewport: DESKTOP,
        fullPage: true,
      });
    }
    await take(browser, api, shots, {
      folder,
      suffix: '-phone',
      scheme: 'light',
      viewport: PHONE,
      fullPage: true,
    });
  } finally {
    await browser.close();
  }
}

try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
