import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { digestsOf } from '#scripts/check/digests.ts';

const sources = {
  'tsconfig.json': '{}',
  'shared/a.ts': 'export const a = 1;',
  'shared/b.ts': "export { a } from './a.ts';",
  'api/c.ts': "import { a } from '#shared/b.ts';",
  'api/other.ts': 'export const other = 1;',
};

async function changedBy(change: Partial<typeof sources>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'digests-'));
  const digests = (texts: Partial<typeof sources>) => {
    for (const [file, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return digestsOf(folder, Object.keys(sources));
  };
  const before = digests(sources);
  const after = digests(change);
  return [...after].filter(([file, digest]) => before.get(file) !== digest).map(([file]) => file);
}

test('a file is linted again after a change of what it imports, directly or not', async () => {
  expect(await changedBy({})).toEqual([]);
  expect(await changedBy({ 'shared/a.ts': 'export const a = 2;' })).toEqual([
    'shared/a.ts',
    'shared/b.ts',
    'api/c.ts',
  ]);
  expect(await changedBy({ 'api/c.ts': '' })).toEqual(['api/c.ts']);
});

test('every file is linted again after a change of the compiler options', async () => {
  expect(await changedBy({ 'tsconfig.json': '{"strict":true}' })).toHaveLength(4);
});

test('a circle of imports ends', async () => {
  const circle = { 'shared/a.ts': "export { a } from './b.ts';" };
  expect(await changedBy(circle)).toContain('shared/b.ts');
});
