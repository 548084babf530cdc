import { join } from 'node:path';
import { findOnPath, isExecutable } from '#scripts/stack/temporal-binary.mjs';
import { provideGoProgram } from './go.mjs';

/** Of the Go module; this one is Prometheus 3.16.0. */
const version = '0.316.0';
const projectDir = join(import.meta.dirname, '../..');
const built = join(projectDir, '.cache', `promtool-${version}`, 'promtool');

/** The path of promtool: on PATH, or built before. Undefined without both. */
export const findPromtool = () =>
  findOnPath('promtool', process.env) ?? (isExecutable(built) ? built : undefined);

// `npm run test:alerts`: the build takes minutes and both processors, so no other tests run beside it.
if (import.meta.main && findPromtool() === undefined) {
  const program = `github.com/prometheus/prometheus/cmd/promtool@v${version}`;
  const label = `Building promtool ${version} (once, 5 to 10 minutes)`;
  await provideGoProgram({ label, program, path: built }, projectDir);
}
