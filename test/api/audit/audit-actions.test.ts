import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { auditActions, auditTargets } from '#shared/contract/audit/audit.ts';

const root = join(import.meta.dirname, '../../..');
const contract = 'shared/contract/audit/audit.ts';

/** The product code, without the list of the actions itself. */
const sources = ['shared', 'api', 'activities', 'worker']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${folder}/${path}`,
    ),
  )
  .filter((path) => path.endsWith('.ts') && path !== contract)
  .map((path) => readFileSync(join(root, path), 'utf8'));

test('every action has a label, and the code writes every action', () => {
  const all = sources.join('\n');
  expect(Object.keys(auditActions).filter((action) => !all.includes(`'${action}'`))).toEqual([]);
  expect(Object.keys(auditTargets).filter((target) => !all.includes(`'${target}'`))).toEqual([]);
  for (const text of [...Object.values(auditActions), ...Object.values(auditTargets)]) {
    expect(text).toMatch(/^[A-Z]/);
  }
  expect(new Set(Object.values(auditActions)).size).toBe(Object.keys(auditActions).length);
});
