import { posix } from 'node:path';
import highlighter from 'highlight.js';
import { Marked, type Tokens } from 'marked';
import { BASE, type SitePage } from './pages.ts';

interface Heading {
  level: number;
  id: string;
  text: string;
}

/** What a search finds: the text under one heading, up to the next. */
interface Passage {
  heading: Heading;
  text: string;
}

export interface RenderedPage {
  html: string;
  passages: Passage[];
}

/** What the pages refer to: other pages by their source, and pictures by their path from the root. */
export interface Targets {
  pages: ReadonlyMap<string, SitePage>;
  pictures: ReadonlyMap<string, string>;
}

/** Documents that the API serves itself. */
const served: Readonly<Record<string, string>> = {
  'docs/openapi/ops.json': '/api/openapi.json',
  'docs/openapi/data.json': '/v1/openapi.json',
};

export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** The anchor of a heading, as GitHub makes it. `seen` counts the anchors of the page. */
function anchorOf(text: string, seen: Map<string, number>): string {
  const slug = text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** The text of Markdown that is one line, without its marks. */
const plainText = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The address of a link on a page; undefined for a file that the site does not have. */
function hrefOf(href: string, page: SitePage, { pages }: Targets): string | undefined {
  if (/^[a-z]+:/.test(href) || href.startsWith('#') || href.startsWith('/')) return href;
  const [file = '', anchor] = href.split('#');
  const source = posix.normalize(posix.join(posix.dirname(page.source), file)).replace(/\/$/, '');
  const target = pages.get(source) ?? pages.get(`${source}/README.md`);
  if (target === undefined) return served[source];
  return `${BASE}${target.address}${anchor === undefined ? '' : `#${anchor}`}`;
}

function codeHtml({ text, lang = '' }: Tokens.Code): string {
  const name = lang.split(/\s/, 1)[0] ?? '';
  const html =
    highlighter.getLanguage(name) === undefined
      ? escapeHtml(text)
      : highlighter.highlight(text, { language: name }).value;
  return `<div class="code"><pre tabindex="0" role="group" aria-label="Code"><code>${html}\n</code></pre></div>\n`;
}

/** A page as HTML, with the passages that a search finds. Links to files that the site does not have become their text. */
export function renderPage(page: SitePage, targets: Targets): RenderedPage {
  const seen = new Map<string, number>();
  const passages: Passage[] = [];
  const passage = (html: string): string => {
    const last = passages.at(-1);
    if (last !== undefined) last.text += `${plainText(html)}\n`;
    return html;
  };
  const marked = new Marked();
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const text = plainText(html);
        const id = anchorOf(text, seen);
        passages.push({ heading: { level: depth, id, text }, text: '' });
        if (depth === 1) return `<h1 id="${id}">${html}</h1>\n`;
        const name = escapeHtml(`Link to “${text}”`);
        return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="${name}">#</a></h${depth}>\n`;
      },
      paragraph({ tokens }) {
        return passage(`<p>${this.parser.parseInline(tokens)}</p>\n`);
      },
      code(token) {
        passage(escapeHtml(token.text));
        return codeHtml(token);
      },
      listitem(item) {
        const html = this.parser.parse(item.tokens);
        if (!item.tokens.some(({ type }) => type === 'paragraph')) passage(html);
        return `<li>${html}</li>\n`;
      },
      table(table) {
        const cells = (row: Tokens.TableCell[], tag: string): string =>
          row
            .map(({ tokens }) => {
              const html = this.parser.parseInline(tokens) || '–';
              return tag === 'th' ? `<th scope="col">${html}</th>` : `<td>${html}</td>`;
            })
            .join('');
        const rows = table.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        passage(rows.replaceAll('</td>', ' '));
        const head = `<thead><tr>${cells(table.header, 'th')}</tr></thead>`;
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        const address = hrefOf(href, page, targets);
        return address === undefined ? html : `<a href="${escapeHtml(address)}">${html}</a>`;
      },
      image({ href, text }) {
        const source = posix.normalize(posix.join(posix.dirname(page.source), href));
        const address = targets.pictures.get(source);
        return address === undefined
          ? escapeHtml(text)
          : `<img src="${address}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      // The marks of the tours.
      html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
    },
  });
  return { html: marked.parse(page.markdown, { async: false }), passages };
}
