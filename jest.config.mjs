/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Node loads the tests itself, without a copy of every module for each file.
  testEnvironment: '<rootDir>/test/support/jest/environment.ts',
  runtime: '<rootDir>/test/support/jest/runtime.ts',
  transform: {},
  injectGlobals: false,
  // The default is in the temporary folder, which is removed after the run.
  cacheDirectory: '<rootDir>/.cache/jest',
  // Anchored to this folder, so that a copy of the project below another .cache still finds its tests.
  modulePathIgnorePatterns: ['<rootDir>/.data/', '<rootDir>/.cache/', '<rootDir>/dist/'],
  testPathIgnorePatterns: ['/node_modules/'],
  watchman: false,
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  // 30 s on an idle machine: see test/support/patience.ts.
  testTimeout: 120_000,
  // More than processors: most tests mostly wait.
  maxWorkers: 4,
  // JavaScript heap. Modules stay loaded; a fresh process takes seconds to load them.
  workerIdleMemoryLimit: '380MB',
  // After its last handle is closed, a process writes what it has compiled to NODE_COMPILE_CACHE and frees its memory, which
  // takes more than the default of 0.5 s on a busy machine. A test that leaves something open is still reported.
  workerGracefulExitTimeout: 15_000,
};
