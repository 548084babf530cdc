import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

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
  const stored = (await readPrivateFile(pathIn(folder))) as Partial<Profiles> | undefined;
  return { current: stored?.current ?? none.current, profiles: stored?.profiles ?? {} };
}

export const writeProfiles = (folder: string, profiles: Profiles): Promise<void> =>
  writePrivateFile(pathIn(folder), profiles);
