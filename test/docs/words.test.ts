import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');

/**
 * `avoid`: a regular expression, matched without case at word boundaries, where a space stands for any white space.
 * `use`: what to write instead. `only`: the texts it is about, if not all.
 */
const wordSchema = z.strictObject({
  avoid: z.string().min(1),
  use: z.string().min(1),
  only: z.enum(['console', 'docs']).optional(),
});
type Word = z.infer<typeof wordSchema>;

const words = z
  .array(wordSchema)
  .min(1)
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'avoided-words.json'), 'utf8')));

interface Text {
  line: number;
  text: string;
}

/** The texts of a source file: string literals, templates with `…` for each expression, and JSX text. */
function textsOf(path: string, source: string): Text[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts: Text[] = [];
  const add = (node: ts.Node, text: string): void => {
    const start = ts.isJsxText(node)
      ? node.pos + text.length - text.trimStart().length
      : node.getStart(file);
    const { line } = file.getLineAndCharacterOfPosition(start);
    if (/\p{L}/u.test(text)) texts.push({ line: line + 1, text: text.trim() });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) add(node, node.text);
    if (ts.isTemplateExpression(node)) {
      const spans = node.templateSpans.map(({ literal }) => literal.text);
      add(node, [node.head.text, ...spans].join('…'));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

/** The paragraphs, headings and table rows of a Markdown document, without its code. */
function proseOf(source: string): Text[] {
  const texts: Text[] = [];
  let open: Text | undefined;
  let fenced = false;
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*```/.test(line)) fenced = !fenced;
    const isText = !fenced && line.trim() !== '' && !/^\s*(```|<!--)/.test(line);
    if (!isText) {
      open = undefined;
      continue;
    }
    if (open === undefined || /^\s*([#|>*-]|\d+\.)/.test(line)) {
      open = { line: index + 1, text: '' };
      texts.push(open);
    }
    open.text += `${line.trim()} `;
  }
  return texts.map(({ line, text }) => ({ line, text: text.replaceAll(/`[^`]*`/g, '`…`').trim() }));
}

/** What is to be avoided in the texts, as `path:line: 'found' in 'text': write ...`. */
function avoidedIn(path: string, texts: readonly Text[], list: readonly Word[]): string[] {
  return list.flatMap(({ avoid, use }) => {
    const pattern = new RegExp(
      `(?<![\\p{L}\\d_-])(?:${avoid.replaceAll(' ', '\\s+')})(?![\\p{L}\\d_-])`,
      'iu',
    );
    return texts.flatMap(({ line, text }) => {
      const found = pattern.exec(text);
      return found === null
        ? []
        : [`${path}:${line}: '${found[0]}' in '${text.slice(0, 100)}': write ${use}`];
    });
  });
}

const listed = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => ending.test(path));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const about = (place: 'console' | 'docs'): Word[] =>
  words.filter(({ only }) => only === undefined || only === place);

const consoleTexts = listed('console/src', /\.tsx?$/).map((path) => ({
  path,
  texts: textsOf(path, read(path)),
}));
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...listed('docs', /\.md$/),
].map((path) => ({
  path,
  texts: proseOf(read(path)),
}));

describe('the words', () => {
  test('of the console are not the avoided ones', () => {
    const found = consoleTexts.flatMap(({ path, texts }) =>
      avoidedIn(path, texts, about('console')),
    );
    expect(found).toEqual([]);
  });

  test.each(documents)('of $path are not the avoided ones', ({ path, texts }) => {
    expect(avoidedIn(path, texts, about('docs'))).toEqual([]);
  });

  test('are read from every kind of text', () => {
    const all = consoleTexts.flatMap(({ texts }) => texts.map(({ text }) => text));
    expect(all).toEqual(
      expect.arrayContaining(['Page not found', 'Failed attempts', 'Retry all failed', 'Cancel']),
    );
    const source = [
      "import type { A } from './given up.ts';",
      "const a = 'tried in vain';",
      'const b = `${count} given\n up`;',
      'const c = <Button label="Read anew">Whoever\n  asks {"was told"}</Button>;',
    ].join('\n');
    const list = words.filter(({ only }) => only === undefined);
    const found = avoidedIn('a.tsx', textsOf('a.tsx', source), list);
    expect(found.map((line) => line.replace(/ in '.*$/s, '')).sort()).toEqual([
      "a.tsx:2: 'in vain'",
      "a.tsx:3: 'given\n up'",
      "a.tsx:5: 'Whoever'",
      "a.tsx:5: 'anew'",
      "a.tsx:6: 'told'",
    ]);
  });

  test('are read from prose and not from code', () => {
    const document = [
      'Runs are',
      'told. `anew`',
      '',
      '```sh',
      'echo told',
      '```',
      '',
      '- anew',
      '',
    ];
    const found = avoidedIn('a.md', proseOf(document.join('\n')), words);
    expect(found).toEqual([
      "a.md:1: 'told' in 'Runs are told. `…`': write notified, sent, recorded",
      "a.md:8: 'anew' in '- anew': write again",
    ]);
  });
});
