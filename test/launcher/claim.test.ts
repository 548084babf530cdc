import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { claimFile, claimFolder } from '#scripts/stack/claim.ts';

test('servers that a killed launcher had not recorded yet are ended, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'claim-'));
  const other = mkdtempSync(join(tmpdir(), 'claim-'));
  const start = (name: string, ...args: string[]) =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args], {
      argv0: `/somewhere/${name}`,
      stdio: 'ignore',
    });
  const servers = [
    start('temporal', 'server', 'start-dev', '--db-filename', join(folder, 'temporal.db')),
    start('postgres', '-D', join(folder, 'postgres')),
  ];
  const others = [
    start('temporal', '--db-filename', join(other, 'temporal.db')),
    start('tail', '-D', join(folder, 'postgres')),
  ];
  try {
    await Promise.all([...servers, ...others].map((each) => once(each, 'spawn')));
    const ended = servers.map((each) => once(each, 'exit'));
    const launcher = { name: 'launcher', pid: process.pid, identity: 'of an earlier process' };
    writeFileSync(join(folder, claimFile), JSON.stringify({ launcher, children: [] }));
    const claim = await claimFolder(folder);
    expect(claim.ended.sort()).toEqual(['postgres', 'temporal']);
    await Promise.all(ended);
    expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null]);
    claim.release();
  } finally {
    for (const each of [...servers, ...others]) each.kill('SIGKILL');
    for (const each of [folder, other]) rmSync(each, { recursive: true, force: true });
  }
});
