import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Claim, claimFile, claimFolder, FolderInUse } from './claim.ts';
import { messageOf } from './output.ts';

// Folders that are to go with the run that made them, also when it is killed: then the next run of its kind, which is
// what the prefix of their names tells, clears them away.

/** A file system in memory, as Linux has it. */
export const memoryFolder = '/dev/shm';

/** Makes a folder for this run and claims it. */
export async function claimTemporaryFolder(prefix: string, place = tmpdir()): Promise<Claim> {
  const folder = mkdtempSync(join(place, prefix));
  // Started by root, Postgres runs as another account and has to get in. Passwords in it are readable by us alone.
  chmodSync(folder, 0o755);
  return claimFolder(folder);
}

/** Ends what runs of this kind that were killed have left running, and removes their folders. */
export async function clearEarlierRuns(
  prefix: string,
  remove: (folder: string) => void = removeFolder,
): Promise<void> {
  const places = [tmpdir(), memoryFolder].filter((place) => existsSync(place));
  const folders = places.flatMap((place) =>
    readdirSync(place)
      .filter((entry) => entry.startsWith(prefix))
      .map((entry) => join(place, entry)),
  );
  for (const folder of folders) {
    // One without a claim is being made by another run at this moment.
    if (!existsSync(join(folder, claimFile))) continue;
    try {
      await claimFolder(folder);
      remove(folder);
    } catch (error) {
      if (!(error instanceof FolderInUse)) {
        console.error(`could not clear ${folder}: ${messageOf(error)}`);
      }
    }
  }
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
