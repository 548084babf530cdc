import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Claim, claimFile, claimFolder, FolderInUse } from './claim.ts';
import { messageOf } from './output.ts';

// Folders that are removed with the run that created them. If that run was killed, the next run with the same prefix
// removes them.

/** An in-memory file system on Linux. */
export const memoryFolder = '/dev/shm';

/** Creates a folder for this run and claims it. */
export async function claimTemporaryFolder(prefix: string, place = tmpdir()): Promise<Claim> {
  const folder = mkdtempSync(join(place, prefix));
  // When running as root, Postgres uses another account, which needs access. Only we can read the passwords in it.
  chmodSync(folder, 0o755);
  return claimFolder(folder);
}

/** Ends leftover processes of killed runs of this kind, and removes their folders. */
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
    // A folder without a claim is just being created by another run.
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
