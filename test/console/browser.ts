import { afterAll, beforeAll, describe, jest, test } from '@jest/globals';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core';
import { findChromium } from '#scripts/stack/chromium.mjs';
import { type Engine, startEngine } from '#test/support/engine.ts';
import { reportOnFailure } from '#test/support/jest/failure-reports.ts';
import { patiently } from '#test/support/patience.ts';
import { addMember, type Person } from '#test/support/people.ts';
import { serveApi } from '#test/support/served-api.ts';

/** The console as in production: Chromium, with pages from an API, and a worker. */
export interface Stage {
  engine: Engine;
  url: string;
  /** Opens a page in a new profile; two pages share no storage. */
  open: (path: string, options?: OpenOptions) => Promise<Visit>;
  /** Calls the API with `fetch`, anonymously or with a session token. */
  call: (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>;
}

export interface OpenOptions {
  scheme?: 'light' | 'dark';
  width?: number;
  height?: number;
  /** The session token that this browser stores. */
  token?: string;
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /**
   * Errors of scripts and of the content security policy, responses with status 400 or more, and changes of records without
   * `If-Match`.
   */
  problems: string[];
}

interface Answer {
  status: number;
  body: any;
}

const headed = process.env['CONSOLE_HEADED'] === 'on';
const executablePath = findChromium(process.env, { headed });
const STAGE_TIMEOUT_MS = 60_000;
const ACT_TIMEOUT_MS = 25_000;
const TEST_TIMEOUT_MS = 90_000;

/**
 * Tests in a real browser. `stage` is available once the tests run. Without a browser on the machine, the tests are
 * skipped with a message; in CI they fail.
 */
export function describeConsole(
  name: string,
  tests: (stage: () => Stage) => void,
  { env = {} }: { env?: Record<string, string> } = {},
): void {
  if (executablePath === undefined) {
    const missing = 'no Chromium or Chrome on this machine: set CHROMIUM_PATH';
    const noStage = (): never => {
      throw new Error(missing);
    };
    if (process.env['CI'] === 'true') test(name, noStage);
    else describe.skip(`${name} (${missing})`, () => tests(noStage));
    return;
  }
  // A page waits for the service, and the service for servers that other tests share.
  jest.setTimeout(patiently(TEST_TIMEOUT_MS));
  describe(name, () => {
    let set: { stage: Stage; close: () => Promise<void> } | undefined;
    beforeAll(async () => {
      set = await setStage(executablePath, env);
    }, STAGE_TIMEOUT_MS);
    afterAll(async () => set?.close(), STAGE_TIMEOUT_MS);
    tests(() => {
      if (set === undefined) throw new Error('The stage is not set');
      return set.stage;
    });
  });
}

/** Where an element is, also on a page that renders again: it replaces elements, and `boundingBox` is null for a moment. */
export async function placeOf(
  element: Locator,
): Promise<{ x: number; y: number; width: number; height: number }> {
  for (;;) {
    await element.waitFor();
    const place = await element.boundingBox();
    if (place !== null) return place;
  }
}

export async function pressInDialog(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

/**
 * Replaces the text of a code editor with the keyboard, as a person does. If text replaces a selection, Chromium may
 * add a style, which the page's policy blocks and reports.
 */
export async function rewrite(editor: Locator, text: string): Promise<void> {
  await editor.press('Control+A');
  await editor.press('Delete');
  await editor.page().keyboard.insertText(text);
}

/** A member with a session, invited through the API of the stage. */
export const personOf = (
  { call }: Stage,
  given: Parameters<typeof addMember>[1],
): Promise<Person> =>
  addMember(
    {
      call: (method, path, body, headers) =>
        call(method, path, body, headers?.['authorization']?.replace('Bearer ', '')),
    } as Parameters<typeof addMember>[0],
    given,
  );

async function setStage(
  path: string,
  env: Record<string, string>,
): Promise<{ stage: Stage; close: () => Promise<void> }> {
  const engine = await startEngine({ env });
  const api = await serveApi(engine);
  // As root, Chromium has no sandbox; it only loads our own pages. No test needs a software GPU.
  const browser = await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    headless: !headed,
  });
  const stage: Stage = {
    engine,
    url: api.url,
    open: (address, options) => visit(browser, api.url, address, options),
    call: (method, address, body, token) => call(api.url + address, method, body, token),
  };
  const forget = reportOnFailure(() => pagesOf(browser));
  const close = async (): Promise<void> => {
    forget();
    await browser.close();
    await api.stop();
    await engine.close();
  };
  return { stage, close };
}

async function visit(
  browser: Browser,
  url: string,
  path: string,
  { scheme = 'light', width = 1280, height = 900, token }: OpenOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
  });
  if (token !== undefined) {
    await context.addInitScript((given) => {
      if (localStorage.getItem('workflows.session') === null) {
        localStorage.setItem('workflows.session', given);
      }
    }, token);
  }
  // Shorter than the timeout of a test, so that the error names what the test waited for.
  context.setDefaultTimeout(patiently(ACT_TIMEOUT_MS));
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Chromium also logs failed requests; the responses below identify them.
    const repeated = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !repeated) problems.push(`console: ${message.text()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  page.on('request', (request) => {
    if (isUnconditional(request)) {
      problems.push(`no If-Match: ${request.method()} ${request.url()}`);
    }
  });
  problemsOf.set(page, problems);
  await page.goto(url + path);
  return { page, context, problems };
}

/**
 * Whether a request changes a record without saying which state of it the user knows. A first save creates one, and
 * no one else changes the pins, views, authorizations and the Slack account of a member.
 */
function isUnconditional(request: Request): boolean {
  const changes = ['PUT', 'PATCH', 'DELETE'].includes(request.method());
  const creates = request.method() === 'PUT' && /\/(draft|secrets\/\w+)$/.test(request.url());
  const isPrivate = /\/(pins|run-views|authorizations|slack)\/[^/]+$/.test(request.url());
  return changes && !creates && !isPrivate && request.headers()['if-match'] === undefined;
}

const problemsOf = new WeakMap<Page, string[]>();

/** The text and the problems of the open pages. */
async function pagesOf(browser: Browser): Promise<string> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  const shown = pages.map(async (page) =>
    [
      `Page ${page.url()}`,
      ...(problemsOf.get(page) ?? []),
      (await page.locator('body').innerText()).replace(/\n{2,}/g, '\n'),
    ].join('\n'),
  );
  return (await Promise.all(shown)).join('\n\n');
}

async function call(url: string, method: string, body?: unknown, token?: string): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Publishes the draft that the editor has saved, as this version. */
export async function publishDraft(page: Page, version: number, note = ''): Promise<void> {
  await page.getByText('Draft saved').waitFor();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish this draft?' });
  if (note !== '') await dialog.getByLabel('Note').fill(note);
  await dialog.getByRole('button', { name: 'Publish draft' }).click();
  await page.getByText(`Version ${version} published`).waitFor();
}
