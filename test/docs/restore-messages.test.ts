import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

// At three in the morning, people search the page for the words that the command printed.

const projectDir = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(projectDir, path), 'utf8');

/** The first column of the table, without the values in the messages. */
const texts = [...read('docs/restore.md').matchAll(/^\| (`.+?`) \| /gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
);

/** The string literals of what a backup and a restore run, with `…` for a value. */
const sources = [
  'scripts/backup.ts',
  'scripts/restore.ts',
  ...globSync('scripts/backup/*.ts', { cwd: projectDir }),
  'scripts/stack/claim.ts',
  'scripts/stack/make-folders.ts',
];
const literals = sources.flatMap((path) =>
  [...read(path).matchAll(/`[^`]*`|'[^'\n]*'/g)].map(([text]) =>
    text.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '…'),
  ),
);

test('the table of messages is found', () => {
  expect(texts.length).toBeGreaterThan(10);
});

test.each(texts)('a backup or a restore can say "%s"', (text) => {
  const words = text === 'cannot be created' || text === 'cannot be written' ? 'cannot be …' : text;
  expect(literals.filter((literal) => literal.includes(words))).not.toEqual([]);
});

/** Errors of the code or of a server that someone has changed. */
const unexpected = ['the database did not start', 'the server has tablespaces of its own'];

test('every refusal of a backup or a restore is in the table', () => {
  const thrown = globSync('scripts/backup/*.ts', { cwd: projectDir }).flatMap((path) =>
    [...read(path).matchAll(/new Error\(\s*(`[^`]*`|'[^'\n]*')/g)].map(([, text = '']) =>
      text.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '…'),
    ),
  );
  expect(thrown.length).toBeGreaterThan(10);
  const known = [...texts, ...unexpected];
  expect(thrown.filter((message) => !known.some((text) => message.includes(text)))).toEqual([]);
});
