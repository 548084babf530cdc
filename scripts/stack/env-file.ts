import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeEmptyVariables } from '#shared/platform/config.ts';

/**
 * Adds the settings in the project's `.env` to this process's environment, which overrides the file. Then removes the
 * empty ones, because an empty variable also overrides the file.
 */
export function loadEnvFile(projectDir: string): void {
  const path = join(projectDir, '.env');
  if (existsSync(path)) process.loadEnvFile(path);
  removeEmptyVariables();
}
