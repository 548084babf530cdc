import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** The files of this project and their texts, for the checks of texts. */

const projectDir = join(import.meta.dirname, '../..');
/** Generated from texts that are checked at their source. */
const GENERATED = new Set(['client/openapi.ts']);

/** The files in a folder whose names match, by their paths in the project. */
export const listed = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(projectDir, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => ending.test(path) && !path.includes('node_modules/') && !GENERATED.has(path));

/** The text of a file, by its path in the project. */
export const read = (path: string): string => readFileSync(join(projectDir, path), 'utf8');

/** Several checks read each file in sequence, so the last one is cached. */
let latest: { path: string; source: string; file: ts.SourceFile } | undefined;

export function parse(path: string, source: string): ts.SourceFile {
  if (latest?.path !== path || latest.source !== source) {
    const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
    latest = { path, source, file };
  }
  return latest.file;
}

/** The line of a position, from 1. */
export const lineOf = (file: ts.SourceFile, position: number): number =>
  file.getLineAndCharacterOfPosition(position).line + 1;

/** The text of a literal, of a concatenation or of JSX, with `…` for every other expression. */
export function phraseOf(node: ts.Node): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isJsxText(node)) return node.text.replaceAll(/\s+/g, ' ');
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
  }
  if (isConcatenation(node)) return phraseOf(node.left) + phraseOf(node.right);
  if (ts.isJsxExpression(node)) {
    return node.expression === undefined ? '' : phraseOf(node.expression);
  }
  if (ts.isJsxElement(node) || ts.isJsxFragment(node)) return node.children.map(phraseOf).join('');
  return '…';
}

export const isConcatenation = (node: ts.Node): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
