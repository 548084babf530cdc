import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { z } from 'zod';
import { isConcatenation, lineOf, listed, parse, phraseOf, read } from './sources.ts';

/** The words check: no text or name of this project uses a word of `avoided-words.json`. See CONTRIBUTING.md. */

/**
 * `avoid`: a regular expression, matched case-insensitively at word boundaries; a space matches any white space. `use`:
 * the replacement. `only`: the kind of text it applies to; default: all kinds. `code`: comments, literals and test titles;
 * `comments`: comments and test titles; `names`: the names in code, of files and of folders.
 */
const wordSchema = z.strictObject({
  avoid: z.string().min(1),
  use: z.string().min(1),
  only: z.enum(['console', 'docs', 'code', 'comments', 'names']).optional(),
});
export type Word = z.infer<typeof wordSchema>;
export type TextKind = NonNullable<Word['only']>;

export const avoidedWords: readonly Word[] = z
  .array(wordSchema)
  .min(1)
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'avoided-words.json'), 'utf8')));

export interface Text {
  /** The first line of the text, from 1. */
  line: number;
  text: string;
}

const CODE_FOLDERS = [
  'activities',
  'api',
  'bench',
  'cli',
  'client',
  'scripts',
  'shared',
  'worker',
  'workflows',
];
const hasWords = (node: ts.Node): boolean => ts.isJsxText(node) && /\p{L}/u.test(node.text);

/** The texts of a source file: string literals, concatenations, templates and JSX, with `…` for each expression. */
export function textsOf(path: string, source: string): Text[] {
  const file = parse(path, source);
  const texts: Text[] = [];
  const add = (node: ts.Node, text: string): void => {
    if (/\p{L}/u.test(text)) texts.push({ line: lineOf(file, startOf(node)), text: text.trim() });
  };
  const startOf = (node: ts.Node): number => {
    if (!ts.isJsxElement(node) && !ts.isJsxFragment(node)) return node.getStart(file);
    const first = node.children.find(hasWords);
    if (first === undefined) return node.getStart(file);
    return first.pos + first.getFullText(file).search(/\S/);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) add(node, phraseOf(node));
    else if (isConcatenation(node)) {
      const phrase = phraseOf(node);
      add(node, phrase);
      visitOperands(node);
      return;
    } else if ((ts.isJsxElement(node) || ts.isJsxFragment(node)) && node.children.some(hasWords)) {
      add(node, phraseOf(node));
    }
    ts.forEachChild(node, visit);
  };
  // Skips the literals of a concatenation: the phrase contains them.
  const visitOperands = (node: ts.Node): void => {
    if (isConcatenation(node)) [node.left, node.right].forEach(visitOperands);
    else if (ts.isTemplateExpression(node)) ts.forEachChild(node, visit);
    else if (!ts.isStringLiteralLike(node)) visit(node);
  };
  visit(file);
  return texts;
}

/** Where two literals on different lines are joined without a space between their words, as `path:line: 'found'`. */
export function joinedIn(path: string, source: string): string[] {
  const file = parse(path, source);
  const found: string[] = [];
  const isLiteral = (node: ts.Node): boolean =>
    ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (isConcatenation(node) && isLiteral(node.right)) {
      const left = isConcatenation(node.left) ? node.left.right : node.left;
      const [before, after] = [phraseOf(left), phraseOf(node.right)];
      const apart = lineOf(file, left.getStart(file)) < lineOf(file, node.right.getStart(file));
      // Without a space before it, it is not a sentence.
      if (
        apart &&
        isLiteral(left) &&
        /\s.*[^\s(/…-]$/s.test(before) &&
        /^[\p{L}\d(`]/u.test(after)
      ) {
        found.push(`${path}:${lineOf(file, left.getStart(file))}: '${before.slice(-20)}'`);
      }
    }
  };
  visit(file);
  return found;
}

/** The comments of a source file; consecutive line comments are one text. */
export function commentsOf(path: string, source: string): Text[] {
  const file = parse(path, source);
  const blank = source.split('');
  const visit = (node: ts.Node): void => {
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isJsxText(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isRegularExpressionLiteral(node);
    if (isText) blank.fill(' ', ts.isJsxText(node) ? node.pos : node.getStart(file), node.end);
    ts.forEachChild(node, visit);
  };
  visit(file);
  const comments = /\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g;
  return [...blank.join('').matchAll(comments)].map(({ index, 0: comment }) => ({
    line: lineOf(file, index),
    text: comment.replaceAll(/^[ \t]*(?:\/\*+|\*+\/|\*|\/\/)|\*\/$/gm, ''),
  }));
}

const TITLED = new Set(['describe', 'describeConsole', 'it', 'test']);

/** The titles of the tests in a source file. */
export function titlesOf(path: string, source: string): Text[] {
  const file = parse(path, source);
  const titles: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && TITLED.has(calleeOf(node.expression))) {
      const title = node.arguments[0];
      if (title !== undefined) {
        titles.push({ line: lineOf(file, title.getStart(file)), text: phraseOf(title) });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

/** The name of a called function: `test` for `test(...)` and `test.each(...)(...)`. */
function calleeOf(node: ts.Node): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) {
    return calleeOf(node.expression);
  }
  return ts.isTaggedTemplateExpression(node) ? calleeOf(node.tag) : '';
}

/** The names that a source file uses, each once, as words. Names with `_` are stored or sent, and are not checked. */
export function namesOf(path: string, source: string): Text[] {
  const file = parse(path, source);
  const names = new Map<string, Text>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !names.has(node.text) && !/[a-z]_|_[a-z]/.test(node.text)) {
      const words = node.text
        .replaceAll('_', ' ')
        .replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ');
      names.set(node.text, { line: lineOf(file, node.getStart(file)), text: words });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...names.values()];
}

/** The paragraphs, headings and table rows of a Markdown document, without its code. */
export function proseOf(source: string): Text[] {
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
    open.text += `${line.trim()}\n`;
  }
  return texts.map(({ line, text }) => ({ line, text: text.replaceAll(/`[^`]*`/g, '`…`').trim() }));
}

/** The avoided words in the texts, as `path:line: 'found' in 'text': write ...`. */
export function avoidedIn(
  path: string,
  texts: readonly Text[],
  kinds: readonly TextKind[],
  words: readonly Word[] = avoidedWords,
): string[] {
  return words
    .filter(({ only }) => only === undefined || kinds.includes(only))
    .flatMap(({ avoid, use }) => {
      const spaced = avoid.replaceAll(' ', '\\s+');
      const pattern = new RegExp(`(?<![\\p{L}\\d_-])(?:${spaced})(?![\\p{L}\\d_-])`, 'iu');
      return texts.flatMap(({ line, text }) => {
        const found = pattern.exec(text);
        if (found === null) return [];
        const at = line + text.slice(0, found.index).split('\n').length - 1;
        const shown = text.replaceAll(/\s+/g, ' ').trim().slice(0, 100);
        return [`${path}:${at}: '${found[0].replaceAll(/\s+/g, ' ')}' in '${shown}': write ${use}`];
      });
    });
}

/** The avoided words of a document of this project. */
export const avoidedInDocument = (path: string): string[] =>
  avoidedIn(path, proseOf(read(path)), ['docs']);

export const documents = (): string[] => [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...listed('docs', /\.md$/),
];

/** The texts that the console shows, by file. */
export const consoleTexts = (): { path: string; texts: Text[] }[] =>
  listed('console/src', /\.tsx?$/).map((path) => ({ path, texts: textsOf(path, read(path)) }));

/** The avoided words of the console's texts. */
export const avoidedInConsole = (): string[] =>
  consoleTexts().flatMap(({ path, texts }) => avoidedIn(path, texts, ['console']));

const serviceAndConsole = (): string[] => [
  ...CODE_FOLDERS.flatMap((folder) => listed(folder, /\.(ts|mjs)$/)),
  ...listed('console/src', /\.tsx?$/),
];

/** Words of the code that are joined without a space. */
export const joinedInCode = (): string[] =>
  serviceAndConsole().flatMap((path) => joinedIn(path, read(path)));

/** The avoided words of comments, string literals and names in all code, and of comments and titles in tests. */
export function avoidedInCode(): string[] {
  const code = serviceAndConsole().flatMap((path) => {
    const source = read(path);
    const texts = path.startsWith('console/') ? [] : textsOf(path, source);
    return [
      ...avoidedIn(path, commentsOf(path, source), ['code', 'comments']),
      ...avoidedIn(path, texts, ['code']),
      ...avoidedIn(path, namesOf(path, source), ['names']),
    ];
  });
  const tests = listed('test', /\.ts$/).flatMap((path) => {
    const source = read(path);
    const texts = [...commentsOf(path, source), ...titlesOf(path, source)];
    return avoidedIn(path, texts, ['code', 'comments']);
  });
  return [...code, ...tests];
}

/** The avoided words of the names of files and folders. */
export const avoidedInPaths = (
  paths: readonly string[] = [...serviceAndConsole(), ...listed('test', /\.(ts|mjs)$/)],
): string[] =>
  paths.flatMap((path) =>
    avoidedIn(path, [{ line: 1, text: path.replaceAll(/[^\p{L}\d]+/gu, ' ') }], ['names']),
  );

if (import.meta.main) {
  const found = [
    ...documents().flatMap(avoidedInDocument),
    ...avoidedInConsole(),
    ...avoidedInCode(),
    ...avoidedInPaths(),
    ...joinedInCode().map((line) => `${line}: put a space between the words`),
  ];
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
