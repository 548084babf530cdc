import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { identityOf } from '#scripts/stack/process-identity.ts';
import { clearEarlierRuns, memoryFolder, removeFolder } from '#scripts/stack/temporary-folder.ts';
import { eventually } from '#test/support/engine.ts';

const prefix = `temporary-folder-${randomUUID()}-`;
const runs: ChildProcess[] = [];
afterAll(() => runs.forEach((run) => run.kill('SIGKILL')));

/** A process that claims a folder in `place`, starts a server and reports both. */
async function startRun(
  place: string,
): Promise<{ run: ChildProcess; folder: string; server: number }> {
  const script = `
    import { spawn } from 'node:child_process';
    import { claimTemporaryFolder } from ${JSON.stringify(new URL('../../scripts/stack/temporary-folder.ts', import.meta.url))};
    const claim = await claimTemporaryFolder(${JSON.stringify(prefix)}, ${JSON.stringify(place)});
    const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    claim.record('server', server.pid);
    console.log(JSON.stringify({ folder: claim.folder, server: server.pid }));
  `;
  const run = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  runs.push(run);
  const line = await new Promise<string>((resolve, reject) => {
    run.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    run.once('exit', (code) => reject(new Error(`the run ended with ${code}`)));
  });
  return { run, ...(JSON.parse(line) as { folder: string; server: number }) };
}

const places = [
  ['the temporary folder', tmpdir()],
  ['memory', memoryFolder],
].filter(([, place]) => existsSync(place ?? ''));

test.each(places)(
  'a killed run in %s is stopped and removed, while folders in use or being created stay',
  async (_, place = '') => {
    const killed = await startRun(place);
    const going = await startRun(place);
    const beingMade = mkdtempSync(join(place, prefix));
    killed.run.kill('SIGKILL');
    await eventually(() => identityOf(killed.run.pid ?? 0) === undefined);
    expect(identityOf(killed.server)).toBeDefined();

    const removed: string[] = [];
    await clearEarlierRuns(prefix, (folder) => {
      removed.push(folder);
      removeFolder(folder);
    });

    expect(removed).toEqual([killed.folder]);
    expect([killed.folder, going.folder, beingMade].map(existsSync)).toEqual([false, true, true]);
    expect(identityOf(killed.server)).toBeUndefined();
    expect(identityOf(going.server)).toBeDefined();

    going.run.kill('SIGKILL');
    await eventually(() => identityOf(going.run.pid ?? 0) === undefined);
    await clearEarlierRuns(prefix);
    expect(existsSync(going.folder)).toBe(false);
    expect(identityOf(going.server)).toBeUndefined();
    removeFolder(beingMade);
  },
);
