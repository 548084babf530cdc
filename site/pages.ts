import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { guideGroups } from '#shared/values/guide-index.ts';

/** Where the API serves the site. */
export const BASE = '/docs/guide/';

const INDEX = 'docs/README.md';
const DECISIONS = 'docs/decisions';
/** What a skill says to programs, before its text. */
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;

export interface SitePage {
  /** The path of its Markdown, from the root of the project. */
  source: string;
  /** Its address below `BASE`: '' for the index, `approvals`, `decisions/0002-outbox`. */
  address: string;
  /** The group of the index that lists it; undefined for a page that is only linked. */
  group: string | undefined;
  title: string;
  markdown: string;
}

/**
 * The pages of the site, in their reading order: the index, the documents that it lists, the decisions after their own
 * list, and the README of the project. `project`: the folder of the project. Throws if the index lists a missing file.
 */
export function readPages(project: string): SitePage[] {
  const groups = guideGroups(readFileSync(join(project, INDEX), 'utf8'));
  const listed = groups.flatMap(({ title, entries }) =>
    entries.map(({ path }) => ({ source: posix.join('docs', path), group: title })),
  );
  // The index has the decisions as a folder.
  const folder = join(project, DECISIONS);
  const decisions = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.md') && name !== 'README.md')
        .sort()
        .map((name) => `${DECISIONS}/${name}`)
    : [];
  const list = `${DECISIONS}/README.md`;
  const sources: { source: string; group?: string }[] = [
    { source: INDEX },
    ...listed.filter(({ source }) => source !== list),
    ...(decisions.length === 0 ? [] : [{ source: list, group: groups.at(-1)?.title }]),
    ...decisions.map((source) => ({ source })),
    { source: 'README.md' },
  ];
  return sources.map(({ source, group }) => {
    const markdown = readFileSync(join(project, source), 'utf8').replace(FRONT_MATTER, '');
    const title = /^# (.*)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? source;
    return { source, address: addressOf(source), group, title, markdown };
  });
}

/** `docs/tour.md` is `tour`, `docs/decisions/README.md` is `decisions`, `SECURITY.md` is `security`. */
function addressOf(source: string): string {
  if (source === INDEX) return '';
  if (source === 'README.md') return 'readme';
  return source
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '')
    .replace(/\.md$/, '')
    .toLowerCase();
}
