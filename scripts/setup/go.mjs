import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOnPath, isExecutable } from '#scripts/stack/temporal-binary.mjs';
import { runLong, SetupError } from './run-long.mjs';

/** @param {NodeJS.ProcessEnv} env */
export function findGo(env) {
  return (
    findOnPath(process.platform === 'win32' ? 'go.exe' : 'go', env) ??
    [
      '/usr/local/go/bin/go',
      '/usr/lib/go/bin/go',
      '/opt/homebrew/bin/go',
      join(homedir(), 'go', 'bin', 'go'),
    ].find(isExecutable)
  );
}

/**
 * Builds a Go program into a folder.
 * @param {{ label: string, go: string, program: string, folder: string }} build `program`: its package and version,
 *   `example.org/module/cmd/name@v1.0.0`
 * @param {string} projectDir
 */
export function goInstall({ label, go, program, folder }, projectDir) {
  // If a target platform is set, Go puts the program into a subfolder.
  const { GOOS: _os, GOARCH: _arch, ...env } = process.env;
  return runLong(label, go, ['install', program], {
    cwd: projectDir,
    env: { ...env, GOBIN: folder, GOWORK: 'off' },
  });
}

/**
 * Builds a Go program unless it is there.
 * @param {{ label: string, program: string, path: string }} build `path`: where it goes
 * @param {string} projectDir
 */
export async function provideGoProgram({ label, program, path }, projectDir) {
  if (isExecutable(path)) return;
  const go = findGo(process.env);
  if (go === undefined) {
    throw new SetupError(
      `${label}: Go is not on PATH. Install Go 1.26 or newer (https://go.dev/dl)`,
    );
  }
  // Built elsewhere and then moved, so that an interrupted or concurrent build leaves no partial file.
  const draft = join(path, '..', `draft-${process.pid}`);
  mkdirSync(draft, { recursive: true });
  try {
    await goInstall({ label, go, program, folder: draft }, projectDir);
    const [made] = readdirSync(draft);
    if (made === undefined) throw new SetupError(`No program appeared in ${draft}`);
    if (!existsSync(path)) renameSync(join(draft, made), path);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
