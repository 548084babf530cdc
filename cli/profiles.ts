import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { refusal } from './endings.ts';

export interface Profile {
  url: string;
  api_key?: string;
  token?: string;
  /** The user who is signed in, for display only. */
  email?: string;
}

export interface Profiles {
  /** The default profile. */
  current: string;
  profiles: Record<string, Profile>;
}

const none: Profiles = { current: 'default', profiles: {} };
const pathIn = (folder: string): string => join(folder, 'profiles.json');

/** The stored profiles. Throws when other accounts could read them, since they contain credentials. */
export async function readProfiles(folder: string): Promise<Profiles> {
  const path = pathIn(folder);
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw refusal(`${path} can be read by others: chmod 600 it`);
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return none;
    throw error;
  }
  try {
    const stored = JSON.parse(text) as Partial<Profiles>;
    return { current: stored.current ?? none.current, profiles: stored.profiles ?? {} };
  } catch {
    throw refusal(`${path} is not JSON: correct it or delete it`);
  }
}

/** Replaces the file atomically, so that a crash leaves the old one intact. */
export async function writeProfiles(folder: string, profiles: Profiles): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = pathIn(folder);
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  // The mode above only applies to a new file, and a crashed process may have left its draft.
  await chmod(draft, 0o600);
  await rename(draft, path);
}
