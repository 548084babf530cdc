import { PRODUCT_NAME } from '#shared/values/product.ts';
import { escapeHtml, type RenderedPage } from './markdown.ts';
import { BASE, type SitePage } from './pages.ts';

/** The files that every page loads, by their address. */
export interface Assets {
  script: string;
  style: string;
  /** The script that sets light or dark before the page is drawn. */
  scheme: string;
  icon: string;
  search: string;
}

interface Neighbors {
  previous: SitePage | undefined;
  next: SitePage | undefined;
}

/** A whole page. `pages` are all pages, for its list; `icon` and the others of `assets` are addresses. */
export function pageHtml(
  page: SitePage,
  rendered: RenderedPage,
  {
    pages,
    assets,
    neighbors,
  }: { pages: readonly SitePage[]; assets: Assets; neighbors: Neighbors },
): string {
  const title = page.address === '' ? PRODUCT_NAME : `${page.title} · ${PRODUCT_NAME}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.scheme}"></script>
<script type="module" src="${assets.script}"></script>
</head>
<body data-search="${assets.search}">
<a class="skip" href="#content">Skip to the page</a>
<header class="top">
<button type="button" class="menu" aria-expanded="false" aria-controls="pages">Pages</button>
<a class="product" href="${BASE}">${escapeHtml(PRODUCT_NAME)}</a>
<search class="search">
<input type="search" aria-label="Search the documentation" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<div class="results" hidden><p role="status"></p><ul></ul></div>
</search>
<a class="to" href="/docs/">API reference</a>
<a class="to" href="/">Console</a>
<button type="button" class="scheme">Dark</button>
</header>
<nav id="pages" aria-label="Pages">
${pageList(page, pages)}
</nav>
<main id="content" tabindex="-1">
<article>
${rendered.html}</article>
${neighborLinks(neighbors)}
</main>
${contents(rendered)}
</body>
</html>
`;
}

function pageList(current: SitePage, pages: readonly SitePage[]): string {
  const groups = [...new Set(pages.flatMap(({ group }) => group ?? []))];
  const link = (page: SitePage): string => {
    const here = page.address === current.address ? ' aria-current="page"' : '';
    return `<li><a href="${BASE}${page.address}"${here}>${escapeHtml(page.title)}</a></li>`;
  };
  return groups
    .map((group) => {
      const items = pages.filter((page) => page.group === group).map(link);
      return `<h2>${escapeHtml(group)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}

function neighborLinks({ previous, next }: Neighbors): string {
  const link = (page: SitePage | undefined, rel: string, label: string): string =>
    page === undefined
      ? ''
      : `<a rel="${rel}" href="${BASE}${page.address}"><span>${label}</span> ${escapeHtml(page.title)}</a>`;
  const links = link(previous, 'prev', 'Previous') + link(next, 'next', 'Next');
  return links && `<nav class="neighbors" aria-label="Previous and next page">${links}</nav>`;
}

/** The headings of the page; nothing for a page with fewer than two. */
function contents({ passages }: RenderedPage): string {
  const headings = passages.map(({ heading }) => heading).filter(({ level }) => level === 2);
  if (headings.length < 2) return '';
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page">\n<ul>\n${items.join('\n')}\n</ul>\n</nav>`;
}
