import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refusal } from './endings.ts';

/**
 * The object in a JSON file with credentials; undefined without the file. Throws Ending when other accounts could read
 * the file, or when it is not JSON.
 */
export async function readPrivateFile(path: string): Promise<unknown> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw refusal(`${path} can be read by others: chmod 600 it`);
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(`${path} is not JSON: correct it or delete it`);
  }
}

/** Replaces the file atomically, so that a crash leaves the old one intact. Only its owner can read it. */
export async function writePrivateFile(path: string, content: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  // The mode above only applies to a new file, and a crashed process may have left its draft.
  await chmod(draft, 0o600);
  await rename(draft, path);
}
