import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectFiles } from '#scripts/related/files.ts';
import { expectCommitted } from '#test/api/committed-file.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every Markdown file of the repository, new ones included, by its path from the root. */
const documents = projectFiles(root, '*.md');

/** The document without its code. Links and headings in code are examples. */
function proseOf(source: string): string {
  return source.replaceAll(/^ *```[^]*?^ *```$/gm, '');
}

interface Link {
  /** The path of the target file, from the root. */
  path: string;
  anchor: string | undefined;
  written: string;
}

/** The links of a document to files of the repository. */
function linksOf(document: string, source: string): Link[] {
  const targets = [...proseOf(source).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((written) => {
      const [file = '', anchor] = written.split('#');
      const path = posix.normalize(posix.join(posix.dirname(document), file));
      return { path: file === '' ? document : path, anchor, written };
    });
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(source: string): string[] {
  const seen = new Map<string, number>();
  return [...proseOf(source).matchAll(/^#{1,6} +(.*)$/gm)].map((match) => {
    const text = match[1]!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const slug = text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** The broken links of a document, one line each. */
function brokenIn(document: string, source: string, load: (path: string) => string): string[] {
  return linksOf(document, source).flatMap(({ path, anchor, written }) => {
    if (!existsSync(join(root, path))) return [`${document}: ${written} leads nowhere`];
    if (anchor === undefined) return [];
    const target = path === document ? source : load(path);
    return anchorsOf(target).includes(anchor)
      ? []
      : [`${document}: ${written} has no such heading`];
  });
}

/** Files that documents name in code, such as `test/api/people.test.ts`. */
const namedFile =
  /`((?:activities|api|bench|cli|client|console|docker|docs|examples|migrations|scripts|shared|test|worker|workflows)\/[\w./-]*)`/g;

describe('documents', () => {
  test.each(documents)('%s has no broken links', (path) => {
    expect(brokenIn(path, read(path), read)).toEqual([]);
  });

  test.each(documents.filter((path) => path !== 'CHANGELOG.md'))(
    '%s names no missing files',
    (path) => {
      const named = [...read(path).matchAll(namedFile)].map((match) => match[1]!);
      expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
    },
  );

  test('report broken links and missing headings', () => {
    const source = [
      '# The `first` part',
      '[a](README.md) [b](missing.md) [c](README.md#no-such-part)',
      '[d](#the-first-part) [e](#the-second-part) [f](https://example.com/missing.md)',
      '```',
      '[g](missing-in-code.md)',
      '```',
    ].join('\n');
    expect(brokenIn('docs/tour.md', source, read)).toEqual([
      'docs/tour.md: missing.md leads nowhere',
      'docs/tour.md: README.md#no-such-part has no such heading',
      'docs/tour.md: #the-second-part has no such heading',
    ]);
  });
});

describe('document indexes', () => {
  const linked = (map: string): string[] =>
    linksOf(map, read(map))
      .map(({ path }) => (statSync(join(root, path)).isDirectory() ? `${path}/README.md` : path))
      .filter((path) => path.endsWith('.md'));
  const inDocs = documents.filter((path) => /^docs\/[^/]+\.md$/.test(path));
  const decisions = documents.filter((path) => /^docs\/decisions\/\d{4}-[\w-]+\.md$/.test(path));
  const others = [
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'README.md',
    'SECURITY.md',
    'bench/README.md',
    'docs/decisions/README.md',
    'docs/skill/SKILL.md',
  ];

  test('docs/README.md links every document exactly once', () => {
    const expected = [...inDocs, ...others].filter((path) => path !== 'docs/README.md');
    expect(linked('docs/README.md').sort()).toEqual(expected.sort());
  });

  test('docs/decisions/README.md links every decision once, numbered from 0001 without gaps', () => {
    expect(decisions.length).toBeGreaterThan(0);
    expect(linked('docs/decisions/README.md')).toEqual(decisions.sort());
    const numbers = decisions.map((path) => Number(posix.basename(path).slice(0, 4)));
    expect(numbers).toEqual(decisions.map((_, index) => index + 1));
  });

  test('README.md links the index, the decisions and the architecture, contributing and security documents', () => {
    expect(linked('README.md')).toEqual(
      expect.arrayContaining([
        'ARCHITECTURE.md',
        'CONTRIBUTING.md',
        'SECURITY.md',
        'docs/README.md',
        'docs/decisions/README.md',
      ]),
    );
  });
});

describe('benchmark results', () => {
  const isRow = (line: string): boolean => /^\|.*\| (yes|NO|-) \|$/.test(line);
  const rowsOf = (path: string): string[] => read(path).split('\n').filter(isRow);
  const measureOf = (row: string): string => row.split(' | ')[0]!;
  const latest = rowsOf('bench/results/latest.md');

  test('docs/performance.md has every row of the latest benchmark', () => {
    expect(latest.length).toBeGreaterThan(30);
    const lines = read('docs/performance.md').split('\n');
    const first = lines.findIndex(isRow);
    const others = lines.filter((line) => !isRow(line));
    expectCommitted('docs/performance.md', others.toSpliced(first, 0, ...latest).join('\n'));
  });

  test('README.md has five of its rows', () => {
    const lines = read('README.md').split('\n');
    expect(lines.filter(isRow)).toHaveLength(5);
    const current = new Map(latest.map((row) => [measureOf(row), row]));
    const text = lines.map((line) => (isRow(line) ? (current.get(measureOf(line)) ?? '') : line));
    expectCommitted('README.md', text.join('\n'));
  });
});
