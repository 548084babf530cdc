import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type Page } from 'playwright-core';
import { createClient } from '#client/index.ts';
import { messageOf } from '#shared/errors.ts';
import { findApi } from './running-service.ts';
import { type Shot, shotsOf } from './screenshots/shots.ts';
import { findChromium } from './stack/chromium.mjs';

/**
 * `npm run screenshots [-- --api <url>] [--all <folder>] [--only <names>] [--token <session token>]`: takes screenshots
 * of the console's pages from a running service, with its current data. Without `--all`, it takes those in the documents
 * and writes them to docs/screenshots; with it, every page, or those named, in both color schemes and at the width of a
 * phone, a laptop and a large screen. The token is the one to sign in with, if the service is not in open mode.
 */
const projectDir = join(import.meta.dirname, '..');
const DESKTOP = { width: 1280, height: 800 };
const VIEWPORTS = {
  '': DESKTOP,
  '-phone': { width: 390, height: 844 },
  '-wide': { width: 1920, height: 1080 },
};
/** Charts and graphs load and are drawn after the page's own data. */
const SETTLE_MS = 1_200;
const PLACEHOLDER = '.mantine-Skeleton-root';

/** Pages open at once. */
const LANES = 3;

interface Look {
  folder: string;
  token: string | undefined;
  suffix: string;
  scheme: 'light' | 'dark';
  viewport: { width: number; height: number };
  fullPage: boolean;
}

async function take(browser: Browser, api: string, shots: Shot[], look: Look): Promise<void> {
  mkdirSync(look.folder, { recursive: true });
  const { scheme, viewport, token } = look;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  if (token !== undefined) {
    await context.addInitScript(
      `localStorage.setItem('workflows.session', ${JSON.stringify(token)})`,
    );
  }
  const waiting = [...shots];
  const lane = async (): Promise<void> => {
    const page = await context.newPage();
    for (let shot = waiting.shift(); shot !== undefined; shot = waiting.shift()) {
      await page.goto(api + shot.path);
      await page.waitForSelector('h1');
      await settled(page);
      if (shot.act !== undefined) {
        await shot.act(page);
        await settled(page);
      }
      const file = join(look.folder, `${shot.name}${look.suffix}.png`);
      await page.screenshot({ path: file, fullPage: look.fullPage });
      console.log(file);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await context.close();
}

/** Nothing on the page is a placeholder any more, also after parts of it have arrived. */
async function settled(page: Page): Promise<void> {
  do {
    await page.locator(PLACEHOLDER).first().waitFor({ state: 'detached' });
    await page.waitForTimeout(SETTLE_MS);
  } while ((await page.locator(PLACEHOLDER).count()) > 0);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { api: text, all: text, only: text, token: text } });
  const executablePath = findChromium(process.env);
  if (executablePath === undefined) throw new Error('No Chromium or Chrome: set CHROMIUM_PATH');
  const api = findApi(values.api);
  const { all, token } = values;
  const shots = await shotsOf(createClient({ baseUrl: api, token }));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    if (all === undefined) {
      const documented = shots.filter((shot) => shot.documented);
      const folder = join(projectDir, 'docs/screenshots');
      const look = { folder, token, suffix: '', viewport: DESKTOP, fullPage: false } as const;
      await take(browser, api, documented, { ...look, scheme: 'light' });
      return;
    }
    const names = values.only?.split(',');
    const wanted = shots.filter(({ name }) => names?.includes(name) ?? true);
    for (const scheme of ['light', 'dark'] as const) {
      for (const [size, viewport] of Object.entries(VIEWPORTS)) {
        const look = { folder: all, token, suffix: `-${scheme}${size}`, viewport };
        await take(browser, api, wanted, { ...look, scheme, fullPage: true });
      }
    }
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
