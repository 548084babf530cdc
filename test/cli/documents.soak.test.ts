import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops } from './ops.ts';
import { patiently } from '#test/support/patience.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The text of a marked block, and the output lines it promises, in order. */
function block(path: string, name: string): { text: string; promised: string[] } {
  const marked = new RegExp(
    `<!-- ${name}:begin -->\n\`\`\`\\w+\n([^]*?)\`\`\`\n<!-- ${name}:end -->`,
  ).exec(readFileSync(join(root, path), 'utf8'));
  if (marked === null) throw new Error(`${path} has no ${name}`);
  const text = marked[1]!;
  return { text, promised: [...text.matchAll(/^(?:#|\/\/)=> (.*)$/gm)].map((match) => match[1]!) };
}

describe('documentation', () => {
  let service: Service;
  let ops: Ops;
  let env: Record<string, string>;
  beforeAll(async () => {
    service = await startService();
    ops = await createOps({ OPS_API_URL: service.apiUrl });
    env = {
      ...ops.env,
      PATH: `${ops.configFolder}:${dirname(process.execPath)}:${ops.env['PATH']}`,
    };
  });
  afterAll(() => service.close());

  test.each(['example', 'builder'])(
    'the %s in docs/client.md prints its documented output',
    async (name) => {
      const { text, promised } = block('docs/client.md', name);
      const client = pathToFileURL(join(root, 'client/index.ts')).href;
      const file = join(ops.configFolder, 'example.mts');
      await writeFile(file, text.replace('durable-workflows-client', client));
      const { stdout, stderr } = await execute(process.execPath, [file], { env });
      expect(stderr).toBe('');
      expect(stdout.trim().split('\n')).toEqual(promised);
    },
  );

  test.each([
    ['docs/cli.md', 'tour'],
    ['docs/workflow-files.md', 'tour'],
    ['docs/workflow-files.md', 'workflow-files-dev'],
    ['docs/webhooks-out.md', 'webhooks-listen'],
  ])('the example in %s with the name %s prints its documented output', async (document, name) => {
    const { text, promised } = block(document, name);
    const program = `#!/bin/sh\nexec '${process.execPath}' '${ops.script}' "$@"\n`;
    const bin = join(ops.configFolder, 'bin');
    await mkdir(bin, { recursive: true });
    // A program instead of a function, so that `kill $!` ends it.
    await writeFile(join(bin, 'ops'), program, { mode: 0o755 });
    const { stdout, stderr } = await execute('sh', ['-euc', text], {
      env: {
        ...env,
        PATH: `${bin}:${env['PATH']}`,
        RECEIVER_PORT: String((await freePorts(1))[0]),
      },
      cwd: ops.configFolder,
      timeout: patiently(25_000),
    });
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual(promised);
  });
});
