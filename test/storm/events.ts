import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of one JSON object a line, each with the time in ms since 1970, for whoever looks for a cause later. */
export interface EventFile {
  write(event: object): void;
}

export function openEventFile(folder: string, name: string): EventFile {
  const path = join(folder, name);
  return {
    write: (event) => appendFileSync(path, `${JSON.stringify({ at: Date.now(), ...event })}\n`),
  };
}
