import { join } from 'node:path';
import { findOnPath } from '#scripts/stack/temporal-binary.mjs';
import { provideGoProgram } from './go.mjs';

const version = '3.19.2';

/**
 * The path of Helm: on PATH, or built with Go.
 * @param {string} projectDir
 */
export async function provideHelm(projectDir) {
  const found = findOnPath('helm', process.env);
  if (found !== undefined) return found;
  const path = join(projectDir, '.cache', `helm-${version}`, 'helm');
  const label = `Building Helm ${version} (once, 5 to 10 minutes)`;
  await provideGoProgram(
    { label, program: `helm.sh/helm/v3/cmd/helm@v${version}`, path },
    projectDir,
  );
  return path;
}
