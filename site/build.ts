import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import MiniSearch from 'minisearch';
import { build } from 'vite';
import { precompress } from '#console/precompress.ts';
import { type Assets, pageHtml } from './layout.ts';
import { renderPage, type RenderedPage } from './markdown.ts';
import { BASE, readPages, type SitePage } from './pages.ts';
import { searchOptions } from './search-fields.ts';

const PICTURES = 'docs/screenshots';
/** The answer for an address that has no page. */
const MISSING: SitePage = {
  source: 'docs/404.md',
  address: '404',
  group: undefined,
  title: 'Page not found',
  markdown:
    '# Page not found\n\nSearch, choose a page from the list, or go to [the index](README.md).\n',
};
const project = join(import.meta.dirname, '..');

/** Builds the site from the Markdown of the project into `site/dist`, without anything from the internet. */
async function buildSite(): Promise<void> {
  const out = join(project, 'site/dist');
  rmSync(out, { recursive: true, force: true });
  const bundled = await bundle(out);
  const pages = readPages(project);
  const targets = {
    pages: new Map(pages.map((page) => [page.source, page])),
    pictures: pictures(out),
  };
  const rendered = pages.map((page) => ({ page, rendered: renderPage(page, targets) }));
  const search = asset(out, 'search.json', searchIndex(rendered));
  const assets = { ...bundled, search };
  rendered.forEach(({ page, rendered: content }, at) => {
    const path = join(out, `${page.address === '' ? 'index' : page.address}.html`);
    mkdirSync(dirname(path), { recursive: true });
    const neighbors = { previous: pages[at - 1], next: pages[at + 1] };
    writeFileSync(path, pageHtml(page, content, { pages, assets, neighbors }));
  });
  const none = { previous: undefined, next: undefined };
  const missing = renderPage(MISSING, targets);
  writeFileSync(
    join(out, '404.html'),
    pageHtml(MISSING, missing, { pages, assets, neighbors: none }),
  );
  precompress(out);
}

/** The scripts and the style sheet of the pages, by the address of each. */
async function bundle(out: string): Promise<Omit<Assets, 'search'>> {
  await build({
    root: import.meta.dirname,
    configFile: false,
    base: BASE,
    logLevel: 'warn',
    build: {
      outDir: out,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: 'manifest.json',
      rolldownOptions: { input: join(import.meta.dirname, 'browser/main.ts') },
    },
  });
  const path = join(out, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<
    string,
    { file: string; css?: string[] }
  >;
  rmSync(path);
  const main = manifest['browser/main.ts'];
  if (main === undefined) throw new Error('The bundle of the site has no script');
  const read = (from: string): Buffer => readFileSync(join(project, from));
  return {
    script: BASE + main.file,
    style: BASE + (main.css?.[0] ?? ''),
    scheme: asset(out, 'scheme.js', read('site/browser/scheme.js')),
    icon: asset(out, 'favicon.svg', read('console/src/favicon.svg')),
  };
}

/** Writes a file under a name with the hash of its content. Returns its address. */
function asset(out: string, name: string, content: string | Buffer): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const file = `assets/${basename(name, extname(name))}-${hash}${extname(name)}`;
  mkdirSync(join(out, 'assets'), { recursive: true });
  writeFileSync(join(out, file), content);
  return BASE + file;
}

const pictures = (out: string): Map<string, string> =>
  new Map(
    readdirSync(join(project, PICTURES)).map((name) => [
      `${PICTURES}/${name}`,
      asset(out, name, readFileSync(join(project, PICTURES, name))),
    ]),
  );

function searchIndex(pages: readonly { page: SitePage; rendered: RenderedPage }[]): string {
  const index = new MiniSearch(searchOptions);
  for (const { page, rendered } of pages) {
    for (const { heading, text } of rendered.passages) {
      const id = `${BASE}${page.address}${heading.level === 1 ? '' : `#${heading.id}`}`;
      index.add({ id, page: page.title, heading: heading.level === 1 ? '' : heading.text, text });
    }
  }
  return JSON.stringify(index);
}

await buildSite();
