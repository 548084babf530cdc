import '#console/src/fonts/inter.css';
import './site.css';
import MiniSearch, { type SearchResult } from 'minisearch';
import { type FoundPassage, searchOptions } from '#site/search-fields.ts';

const SCHEME_KEY = 'mantine-color-scheme-value';
const MOST_RESULTS = 12;
const COPIED_MS = 2_000;

const root = document.documentElement;
const found = <T extends Element>(selector: string): T => {
  const element = document.querySelector<T>(selector);
  if (element === null) throw new Error(`No ${selector} on the page`);
  return element;
};

function switchMenu(): void {
  const button = found<HTMLButtonElement>('.menu');
  button.addEventListener('click', () => {
    const open = root.toggleAttribute('data-menu');
    button.setAttribute('aria-expanded', String(open));
  });
}

function switchScheme(): void {
  const button = found<HTMLButtonElement>('.scheme');
  const isDark = (): boolean =>
    (root.dataset['scheme'] ??
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : '')) === 'dark';
  const name = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
  };
  button.addEventListener('click', () => {
    root.dataset['scheme'] = isDark() ? 'light' : 'dark';
    try {
      localStorage.setItem(SCHEME_KEY, root.dataset['scheme']);
    } catch {
      // Without storage, the choice is for this page.
    }
    name();
  });
  name();
}

function copyCode(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent.trimEnd() ?? '');
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), COPIED_MS);
    });
    block.append(button);
  }
}

let loading: Promise<MiniSearch> | undefined;

/** The index, loaded when a reader first wants to search. */
const index = (): Promise<MiniSearch> =>
  (loading ??= fetch(document.body.dataset['search'] ?? '')
    .then((answer) => answer.text())
    .then((text) => MiniSearch.loadJSON(text, searchOptions)));

function search(): void {
  const input = found<HTMLInputElement>('.search input');
  const results = found<HTMLElement>('.results');
  const show = async (): Promise<void> => {
    const query = input.value.trim();
    const hits = query === '' ? [] : (await index()).search(query).slice(0, MOST_RESULTS);
    // A later query may have been answered first.
    if (query !== input.value.trim()) return;
    results.hidden = query === '';
    found('.results p').textContent =
      hits.length === 0
        ? 'No results'
        : `${hits.length} ${hits.length === 1 ? 'result' : 'results'}`;
    found('.results ul').replaceChildren(...hits.map(itemOf));
  };
  input.addEventListener('focus', () => void index());
  input.addEventListener('input', () => void show());
  found('.search').addEventListener('keydown', (event) =>
    move(event as KeyboardEvent, input, results),
  );
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    input.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('.search') === null) results.hidden = true;
  });
}

function itemOf(hit: SearchResult): HTMLLIElement {
  const { id, page, heading } = hit as unknown as FoundPassage;
  const link = document.createElement('a');
  link.href = id;
  link.textContent = heading === '' ? page : `${page} › ${heading}`;
  link.addEventListener('click', () => (found<HTMLElement>('.results').hidden = true));
  const item = document.createElement('li');
  item.append(link);
  return item;
}

/** The arrows move between the results, Enter opens the first, Escape closes them. */
function move(event: KeyboardEvent, input: HTMLInputElement, results: HTMLElement): void {
  const links = [...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'Escape') {
    results.hidden = true;
    input.focus();
  } else if (event.key === 'Enter' && at === -1) links[0]?.click();
  else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else return;
  if (event.key.startsWith('Arrow')) event.preventDefault();
}

document.querySelector('#pages [aria-current]')?.scrollIntoView({ block: 'nearest' });
switchMenu();
switchScheme();
copyCode();
search();
