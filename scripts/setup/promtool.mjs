import { join } from 'node:path';
import { findOnPath } from '#scripts/stack/temporal-binary.mjs';
import { provideGoProgram } from './go.mjs';

/** Of the Go module; this one is Prometheus 3.16.0. */
const version = '0.316.0';

/**
 * The path of promtool: on PATH, or built with Go.
 * @param {string} projectDir
 */
export async function providePromtool(projectDir) {
  const found = findOnPath('promtool', process.env);
  if (found !== undefined) return found;
  const path = join(projectDir, '.cache', `promtool-${version}`, 'promtool');
  const program = `github.com/prometheus/prometheus/cmd/promtool@v${version}`;
  const label = `Building promtool ${version} (once, 5 to 10 minutes)`;
  await provideGoProgram({ label, program, path }, projectDir);
  return path;
}
