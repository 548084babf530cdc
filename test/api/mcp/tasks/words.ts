import { tools } from '#api/mcp/server.ts';
import { workflowFileJsonSchema } from '#shared/contract/workflows/workflow-file.ts';
import { functionSignatures } from '#shared/graph/expression/functions.ts';
import { toolParams } from '#shared/tools.ts';

/**
 * Which words a model can know. What it sends must consist of words that it has read, words of the person, and names that
 * it gives itself; see `unknownWords`.
 */

const WORD = /[A-Za-z_]\w*/g;

export const wordsIn = (text: string): string[] => text.match(WORD) ?? [];

/** The words of texts in Markdown that are code: prose says too much by accident. */
export const wordsOfMarkdown = (text: string): string[] =>
  [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].flatMap(([code]) => wordsIn(code));

/** The words of a sentence for a model that can only be names: quoted, in braces, before a colon, or with a `_` or a dot. */
const wordsOfSentence = (text: string): string[] =>
  [
    ...text.matchAll(
      /`[^`]+`|'[^']*'|"[^"]*"|\{[^}]*\}|\b\w+(?=:)|\b\w*_\w*|\b[A-Za-z]\w*(?:\.[A-Za-z]\w*)+|@\w+/g,
    ),
  ].flatMap(([name]) => wordsIn(name));

/** Fields that hold an expression: each of its words is a name. */
const EXPRESSIONS = new Set(['approval', 'expression', 'items', 'match', 'priority']);

/** The words of JSON: its keys, values that are a single word, expressions, and the names in its sentences. */
export function wordsOfJson(value: unknown, key = ''): string[] {
  if (typeof value === 'string') {
    const isName = EXPRESSIONS.has(key) || /^[\w.:/-]+$/.test(value);
    return isName ? wordsIn(value) : wordsOfSentence(value);
  }
  if (Array.isArray(value)) return value.flatMap((each) => wordsOfJson(each, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...wordsIn(name),
    ...wordsOfJson(inner, name),
  ]);
}

/** Keys and values with a fixed meaning, of a JSON Schema. */
function fixedWords(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fixedWords);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, inner]) => {
    if (key === 'properties') {
      return [...Object.keys(inner as object), ...fixedWords(Object.values(inner as object))];
    }
    if (key === 'enum' || key === 'const') return wordsOfJson(inner);
    return key === 'description' || key === 'examples' ? [] : fixedWords(inner);
  });
}

/** What the values of the state and of templates are called besides: no schema has these. */
const CONTEXT = [
  'args',
  'body',
  'callbacks',
  'error',
  'event',
  'headers',
  'item',
  'index',
  'secrets',
  'status',
];

/** The words of the contract: a model cannot give such a name itself, but must have read it. */
export const contractWords: ReadonlySet<string> = new Set([
  ...fixedWords(workflowFileJsonSchema()),
  ...tools.flatMap(({ listed }) => fixedWords(listed.inputSchema)),
  ...tools.map(({ name }) => name),
  ...functionSignatures.keys(),
  ...Object.entries(toolParams).flatMap(([name, { required, optional }]) => [
    name,
    ...required.flat(),
    ...optional,
  ]),
  ...CONTEXT,
]);

/** Fields whose text is for people: only the templates in it are names. */
const PROSE = new Set([
  'prompt',
  'system_prompt',
  'description',
  'title',
  'label',
  'reason',
  'note',
  'output',
]);

interface Known {
  words: ReadonlySet<string>;
  /** Whether a text was in an answer as a whole, such as an id, an etag or a graph's prompt. */
  wasRead: (text: string) => boolean;
}

/** The words of what a model sends that it can not know, each with its place. */
export function unknownWords(sent: unknown, known: Known, path = ''): string[] {
  const key = /[^.]*$/.exec(path)?.[0] ?? '';
  const missing = (words: string[]): string[] =>
    words.filter((word) => !known.words.has(word)).map((word) => `${word} (at ${path})`);
  if (typeof sent === 'string') {
    if (known.wasRead(sent)) return [];
    const isProse = PROSE.has(key) || (key === 'name' && /\s/.test(sent));
    // A quoted part of an expression is a value.
    const names = isProse
      ? [...sent.matchAll(/\{[^}]*\}/g)].map(([template]) => template).join(' ')
      : sent.replaceAll(/'[^']*'/g, '');
    return missing(wordsIn(names));
  }
  if (Array.isArray(sent)) return sent.flatMap((each) => unknownWords(each, known, path));
  if (typeof sent !== 'object' || sent === null) return [];
  return Object.entries(sent).flatMap(([name, inner]) => [
    ...missing(wordsIn(name)),
    ...unknownWords(inner, known, path === '' ? name : `${path}.${name}`),
  ]);
}
