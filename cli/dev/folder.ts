import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { misuse } from '#cli/endings.ts';
import { filesBelow } from '#cli/files/folder.ts';

/** After a change, the time in which others are awaited: editors write a file in several steps. */
const SETTLE_MS = 150;
/** How often the folder is compared without notice: systems miss changes in new folders and on shared drives. */
const LOOK_MS = 2_000;

/** The workflow files of a folder, each with what changes when it is written. */
export type Snapshot = ReadonlyMap<string, string>;

/** Throws Ending if this is not a folder that can be read. */
export async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => {
    throw misuse(`${folder} cannot be read: ${error instanceof Error ? error.message : ''}`);
  });
  if (!found.isDirectory()) throw misuse(`${folder} is not a folder`);
}

/** Files that disappear in the meantime are left out. */
export async function snapshotOf(folder: string): Promise<Snapshot> {
  const { files } = await filesBelow(folder);
  const entries = await Promise.all(
    files.map(async (file): Promise<[string, string] | undefined> => {
      try {
        const { mtimeMs, size, ino } = await stat(file);
        return [file, `${mtimeMs} ${size} ${ino}`];
      } catch {
        return undefined;
      }
    }),
  );
  return new Map(entries.filter((entry) => entry !== undefined));
}

export const isSame = (one: Snapshot, other: Snapshot): boolean =>
  one.size === other.size && [...one].every(([file, state]) => other.get(file) === state);

/** Says when a folder may have changed. */
export interface Watch {
  /** Resolves after a change, or after some seconds without one. Throws if the signal is aborted. */
  next: () => Promise<void>;
  close: () => void;
}

export function watchFolder(folder: string, signal: AbortSignal): Watch {
  let wake: (() => void) | undefined;
  let isChanged = false;
  const notice = (): void => {
    isChanged = true;
    wake?.();
  };
  const watcher = watcherOf(folder, notice);
  const next = async (): Promise<void> => {
    if (!isChanged) {
      const noticed = new AbortController();
      wake = () => noticed.abort();
      await sleep(LOOK_MS, undefined, { signal: AbortSignal.any([signal, noticed.signal]) }).catch(
        () => undefined,
      );
      signal.throwIfAborted();
    }
    wake = undefined;
    await sleep(SETTLE_MS, undefined, { signal });
    isChanged = false;
  };
  return { next, close: () => watcher?.close() };
}

/** Without one, where the system has no more watches or none for subfolders, the folder is only compared. */
function watcherOf(folder: string, notice: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { recursive: true }, notice);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
