import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type SettingSources, settleEnvironment } from '#shared/platform/settings-files.ts';

/**
 * Adds the settings in the project's `.env` to this process's environment, which overrides the file, and then those of the
 * files that these variables name. Returns the sources of the latter. Throws for files that cannot be used.
 */
export function loadEnvFile(projectDir: string): SettingSources {
  const path = join(projectDir, '.env');
  if (existsSync(path)) process.loadEnvFile(path);
  return settleEnvironment();
}
