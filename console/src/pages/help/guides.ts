import { queryOptions } from '@tanstack/react-query';

/** The project's guides, each loaded when it is opened. */
const files = import.meta.glob<string>('../../../../docs/*.md', {
  query: '?raw',
  import: 'default',
});

const pathOf = (name: string): string => `../../../../docs/${name}.md`;
const MAP = 'README';

/** The Markdown of a guide without its title; null if there is no such guide. */
export const guideQuery = (name: string) =>
  queryOptions({
    queryKey: ['guides', name],
    queryFn: async (): Promise<{ title: string; text: string } | null> => {
      const load = name === MAP ? undefined : files[pathOf(name)];
      if (load === undefined) return null;
      const [first = '', ...rest] = (await load()).split('\n');
      return { title: first.replace(/^# /, ''), text: linked(rest.join('\n'), name) };
    },
    staleTime: 'static',
  });

export interface GuideGroup {
  title: string;
  guides: { name: string; question: string }[];
}

const GROUP = /^## (.+)$/;
const ENTRY = /^\| \[[\w-]+\.md\]\(([\w-]+)\.md\) \| (.+?) \|$/;

/** The map of the guides: what each answers, by reader. */
export const guideMapQuery = queryOptions({
  queryKey: ['guides'],
  queryFn: async (): Promise<GuideGroup[]> => {
    const groups: GuideGroup[] = [];
    for (const line of ((await files[pathOf(MAP)]?.()) ?? '').split('\n')) {
      const title = GROUP.exec(line)?.[1];
      if (title !== undefined) groups.push({ title, guides: [] });
      const [, name, question] = ENTRY.exec(line) ?? [];
      if (name !== undefined && question !== undefined) {
        groups.at(-1)?.guides.push({ name, question: question.replaceAll('`', '') });
      }
    }
    // The last group is about the code, for people who have it.
    return groups.slice(0, -1);
  },
  staleTime: 'static',
});

const LINK = /(!?)\[([^\]\n]*)\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)/g;

/**
 * The same text with links to the pages of other guides. Pictures are left out, and of links to other files, such as those of the
 * code, the text remains.
 */
function linked(text: string, self: string): string {
  return text.replaceAll(
    LINK,
    (_all, picture: string, label: string, path: string, anchor = '') => {
      if (picture !== '') return '';
      const name = path === '' ? self : /^([\w-]+)\.md$/.exec(path)?.[1];
      if (name === undefined || files[pathOf(name)] === undefined || name === MAP) return label;
      return `[${label}](${window.location.origin}/help/${name}${anchor})`;
    },
  );
}
