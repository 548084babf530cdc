import { queryOptions } from '@tanstack/react-query';
import { GROUP_ABOUT_CODE, guideGroups } from '#shared/values/guide-index.ts';

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

/** The map of the guides: what each answers, by reader. */
export const guideMapQuery = queryOptions({
  queryKey: ['guides'],
  queryFn: async (): Promise<GuideGroup[]> => {
    const groups = guideGroups((await files[pathOf(MAP)]?.()) ?? '');
    return groups
      .filter(({ title }) => title !== GROUP_ABOUT_CODE)
      .map(({ title, entries }) => ({
        title,
        guides: entries.flatMap(({ path, question }) => {
          const [, name] = /^([\w-]+)\.md$/.exec(path) ?? [];
          return name === undefined ? [] : [{ name, question: question.replaceAll('`', '') }];
        }),
      }));
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
