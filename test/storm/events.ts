import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file with one JSON object per line, each with the time in ms since 1970, for later analysis. */
export interface EventFile {
  write(event: object): void;
}

export function openEventFile(folder: string, name: string): EventFile {
  const path = join(folder, name);
  return {
    write: (event) => appendFileSync(path, `${JSON.stringify({ at: Date.now(), ...event })}\n`),
  };
}
