import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** With `recursive`, Node reports ENOENT for a read-only file system, and never returns where it is virtual. */
export function makeFolders(path: string, mode: number): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another start may have created it in the meantime.
    if (!existsSync(path)) throw error;
  }
}

/**
 * Makes the folder at `DATA_DIR`. Other accounts can pass through (if we are root, the database account must) but read
 * nothing, because runs contain users' inputs. Throws an Error that says why it cannot be used.
 */
export function makeDataFolder(path: string): void {
  try {
    makeFolders(path, 0o711);
    accessSync(path, constants.W_OK);
  } catch (cause) {
    const act = existsSync(path) ? 'written' : 'created';
    throw new Error(`DATA_DIR ${path} cannot be ${act}`, { cause });
  }
}
