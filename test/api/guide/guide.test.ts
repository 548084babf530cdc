import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readGuide } from '#api/guide/pages.ts';
import { useTestApi } from '#test/api/test-api.ts';

const api = useTestApi({ AUTH_MODE: 'required', PUBLIC_URL: 'https://flows.example.com' });
const BASE = 'https://flows.example.com';
const read = (path: string) => api.call('GET', path);

describe('/llms.txt', () => {
  test('lists every page about the service with its question, for callers without a credential', async () => {
    const { status, headers, text } = await read('/llms.txt');
    expect({ status, type: headers['content-type'], kept: headers['cache-control'] }).toEqual({
      ...{ status: 200, type: 'text/plain; charset=utf-8', kept: 'public, max-age=3600' },
    });
    expect(text).toMatch(/^# .+\n\n> .+\n\n## /);
    expect(text).toContain(
      `- [Approvals](${BASE}/docs/guide/approvals.md): Who decides at a gate, with which input, and what happens when no one does?\n`,
    );
    expect(text).not.toMatch(/adding-a-|testing\.md|decisions/);
  });

  test('every link leads to something', async () => {
    const { text } = await read('/llms.txt');
    const links = [...text.matchAll(/\]\((https:[^)]*)\)/g)].map(([, link = '']) =>
      link.slice(BASE.length),
    );
    expect(links.length).toBeGreaterThan(30);
    for (const link of links) {
      const { status } = await read(link);
      // Over MCP, only a client with a credential gets further.
      expect([link, status]).toEqual([link, link === '/api/mcp' ? 401 : 200]);
    }
  });
});

describe('a page of the guide', () => {
  const pages = readGuide().flatMap((section) => section.pages);

  test.each(pages.map(({ path }) => path))(
    '%s is Markdown whose links lead to pages',
    async (path) => {
      const { status, headers, text } = await read(`/docs/guide/${path}`);
      expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(text).toMatch(/^(?:---\n(?:\w+: .*\n)+---\n\n)?# /);
      const names = new Set(pages.map((page) => page.name));
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)\s#]*)[^)]*\)/g)].map(
        ([, link = '']) => link,
      );
      expect(links.filter((link) => !names.has(link.replace(/\.md$/, '')))).toEqual([]);
    },
  );

  test.each([
    'nothing.md',
    '..%2FREADME.md',
    'README.md',
    'SKILL.md',
    'skill/other.md',
    'decisions/README.md',
    '%2e%2e%2fpackage.json',
  ])('that is named %s is not there', async (name) => {
    expect((await read(`/docs/guide/${name}`)).status).toBe(404);
  });
});

test('/llms-full.txt has all pages', async () => {
  const { text } = await read('/llms-full.txt');
  for (const { title } of readGuide().flatMap((section) => section.pages)) {
    expect(text).toContain(`# ${title}\n`);
  }
});

test('without the documentation, the API has no pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'));
  expect(readGuide(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
