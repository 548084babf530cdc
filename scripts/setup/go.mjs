import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOnPath, isExecutable } from '#scripts/stack/temporal-binary.mjs';
import { runLong } from './run-long.mjs';

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
