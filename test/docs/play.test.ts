import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { patiently } from '#test/support/patience.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/play.md'), 'utf8');
const testing = pathToFileURL(join(root, 'client/testing.ts')).href;

test.each(['play', 'agent'])(
  'the example %s in docs/play.md prints its documented output',
  async (name) => {
    const block = new RegExp(
      `<!-- ${name}:begin -->\n\`\`\`ts\n([^]*?)\`\`\`\n<!-- ${name}:end -->`,
    );
    const [, program = ''] = block.exec(text) ?? [];
    const promised = [...program.matchAll(/^\/\/=> (.*)$/gm)].map(([, line]) => line);
    expect(promised.length).toBeGreaterThan(1);
    const folder = await mkdtemp(join(tmpdir(), 'play-'));
    try {
      const file = join(folder, 'example.mts');
      await writeFile(file, program.replace('durable-workflows-client/testing', testing));
      const { stdout, stderr } = await execute(process.execPath, [file], {
        env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
        timeout: patiently(20_000),
      });
      expect(stderr).toBe('');
      expect(stdout.trim().split('\n')).toEqual(promised);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
