import { GROUP_ABOUT_CODE, guideGroups } from '#shared/values/guide-index.ts';

const [index = ''] = Object.values(
  import.meta.glob<string>('../../../../docs/README.md', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
);

export interface GuideGroup {
  title: string;
  guides: { href: string; question: string }[];
}

/** The guides by reader: what each answers, and its address on the documentation site of this service. */
export const guides: readonly GuideGroup[] = guideGroups(index)
  .filter(({ title }) => title !== GROUP_ABOUT_CODE)
  .map(({ title, entries }) => ({
    title,
    guides: entries.flatMap(({ path, question }) => {
      const [, name] = /^([\w-]+)\.md$/.exec(path) ?? [];
      if (name === undefined) return [];
      return [{ href: `/docs/guide/${name}`, question: question.replaceAll('`', '') }];
    }),
  }));
