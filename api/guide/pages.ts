import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GROUP_ABOUT_CODE, guideGroups } from '#shared/values/guide-index.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';

/** The documentation as Markdown, for programs that read it, such as models. */

/** The folder of the documentation: next to the API, both in the sources and in the image. */
const folder = join(import.meta.dirname, '../../docs');

interface GuidePage {
  /** The name of its file without the extension; that of its folder, if it has one, such as `skill`. */
  name: string;
  /** Its path below the folder of the documentation. */
  path: string;
  title: string;
  /** The question that it answers, from the index. */
  question: string;
  text: string;
}

export interface GuideSection {
  title: string;
  pages: GuidePage[];
}

/** The sections of the index with their pages. None without the folder: the API also works without it. */
export function readGuide(from = folder): GuideSection[] {
  const index = join(from, 'README.md');
  if (!existsSync(index)) return [];
  const used = guideGroups(readFileSync(index, 'utf8'))
    .filter(({ title }) => title !== GROUP_ABOUT_CODE)
    .map(({ title, entries }) => ({
      title,
      rows: entries.flatMap(({ path, question }) => {
        const [, name] = /^([\w-]+)(?:\/[\w-]+)?\.md$/.exec(path) ?? [];
        return name === undefined ? [] : [{ path, name, question }];
      }),
    }));
  const names = new Set(used.flatMap(({ rows }) => rows.map(({ name }) => name)));
  return used.map(({ title, rows }) => ({
    title,
    pages: rows.map(({ path, name, question }) => {
      const text = withoutOtherLinks(readFileSync(join(from, path), 'utf8'), names);
      return { path, name, question, text, title: /^# (.*)$/m.exec(text)?.[1] ?? name };
    }),
  }));
}

let read: GuideSection[] | undefined;

/** The guide of this service, read when it is first wanted. */
export const guide = (): GuideSection[] => (read ??= readGuide());

/** Links to files that are not served become their text. */
const withoutOtherLinks = (text: string, names: ReadonlySet<string>): string =>
  text.replaceAll(
    /\[([^\]]*)\]\((?!https?:|#)([^)\s]*)\)/g,
    (link, label: string, target: string) => {
      const [, name] = /^([\w-]+)\.md(?:#.*)?$/.exec(target) ?? [];
      return name !== undefined && names.has(name) ? link : label;
    },
  );

const SUMMARY =
  'Durable, governed workflows for agents and tools: started by a request, a webhook, a schedule or an event, paused for a ' +
  'person, resumed where they stopped, within budgets, with every decision on record.';

/** The index of the documentation, as https://llmstxt.org describes it. `base`: the address of the service. */
export function llmsText(sections: readonly GuideSection[], base: string): string {
  const lists = sections.map(({ title, pages }) => {
    const rows = pages.map(
      (page) => `- [${page.title}](${base}/docs/guide/${page.path}): ${page.question}`,
    );
    return [`## ${title}`, '', ...rows].join('\n');
  });
  const machine = [
    '## For programs',
    '',
    `- [OpenAPI, operations](${base}/api/openapi.json): every endpoint below /api`,
    `- [OpenAPI, data](${base}/v1/openapi.json): every endpoint below /v1`,
    `- [JSON Schema of workflow files](${base}/schemas/workflow.json): nodes, edges, checks and limits`,
    `- [MCP](${base}/api/mcp): the same actions as tools`,
    `- [Everything on one page](${base}/llms-full.txt)`,
  ].join('\n');
  return `# ${PRODUCT_NAME}\n\n> ${SUMMARY}\n\n${[...lists, machine].join('\n\n')}\n`;
}

/** All pages, one after another. */
export const fullText = (sections: readonly GuideSection[]): string =>
  [
    `# ${PRODUCT_NAME}\n\n> ${SUMMARY}`,
    ...sections.flatMap(({ pages }) => pages.map(({ text }) => text.trim())),
  ].join('\n\n---\n\n') + '\n';
