import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmptyVariables } from '#shared/platform/config.ts';

/**
 * Adds the settings of the project's `.env` to this process's environment, which wins over the file. Then removes the
 * empty ones: an empty variable overrides the file, too.
 */
export function loadEnvFile(projectDir: string): void {
  const path = join(projectDir, '.env');
  if (existsSync(path)) process.loadEnvFile(path);
  removeEmptyVariables();
}
