import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { plural } from '#console/src/messages/format.ts';
import { textsIn, textsOutsideMessages } from '#scripts/check/messages.ts';
import { patiently } from '#test/support/patience.ts';

const projectDir = join(import.meta.dirname, '../..');

describe('texts of the console', () => {
  test('are in its messages', () => {
    expect(textsOutsideMessages()).toEqual([]);
  });

  test('are found in elements, attributes, literals and templates', () => {
    const source = `
      const label = 'Save changes';
      const key = event.key === 'Enter' ? 'Shift' : \`trace-\${kind}\`;
      const used = \`\${share} used\`;
      throw new Error('The stage is not set');
      const page = <Button className="wide blue" title="Delete" aria-label={'trace'}>of <b>{count}</b></Button>;
      const code = <code>event_emit</code>;`;
    expect(textsIn('a.tsx', source)).toEqual([
      'a.tsx:2: "Save changes"',
      'a.tsx:4: "… used"',
      'a.tsx:6: "Delete"',
      'a.tsx:6: "of"',
    ]);
  });

  test('have the plural form for their number', () => {
    const runs = { one: '# run', other: '# runs' };
    expect([0, 1, 1_200].map((count) => plural(count, runs))).toEqual([
      '0 runs',
      '1 run',
      '1,200 runs',
    ]);
  });

  test(
    'come from the folder of another language, if it has them',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'console-'));
      try {
        const vite = join(projectDir, 'node_modules/vite/bin/vite.js');
        const mode = relative('console/src/messages', 'test/console/messages-de');
        const args = [vite, 'build', 'console', '--mode', mode, '--outDir', folder];
        await promisify(execFile)(process.execPath, args, { cwd: projectDir });
        const assets = await readdir(join(folder, 'assets'));
        const scripts = await Promise.all(
          assets
            .filter((name) => name.endsWith('.js'))
            .map((name) => readFile(join(folder, 'assets', name), 'utf8')),
        );
        const all = scripts.join('\n');
        expect(all).toContain('Trotzdem anmelden');
        expect(all).not.toContain('Sign in anyway');
        expect(all).toContain('An administrator must approve your account');
        expect(all).toContain('Delete this budget?');
        expect(await readFile(join(folder, 'index.html'), 'utf8')).toContain('<html lang="de">');
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    patiently(60_000),
  );
});
