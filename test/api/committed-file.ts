import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';

const projectDir = join(import.meta.dirname, '../..');

/** Compares a generated text with the committed file; with UPDATE_COMMITTED set, writes the file instead. */
export function expectCommitted(path: string, text: string): void {
  const file = join(projectDir, path);
  if (process.env['UPDATE_COMMITTED'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  expect(existsSync(file) ? readFileSync(file, 'utf8') : `${path} is missing`).toBe(text);
}
