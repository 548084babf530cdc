/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // Node loads the tests itself, without a copy of every module for each file.
  testEnvironment: '<rootDir>/test/support/jest/environment.ts',
  runtime: '<rootDir>/test/support/jest/runtime.ts',
  transform: {},
  injectGlobals: false,
  // Its default is in the temporary folder, which goes with the run.
  cacheDirectory: '<rootDir>/.cache/jest',
  // Anchored to this folder, so that a copy of the project below some other .cache still finds its tests.
  modulePathIgnorePatterns: ['<rootDir>/.data/', '<rootDir>/.cache/', '<rootDir>/dist/'],
  testPathIgnorePatterns: ['/node_modules/'],
  watchman: false,
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  testTimeout: 30_000,
  // More than processors: most tests wait most of the time.
  maxWorkers: 3,
  // Of JavaScript's heap. Modules stay loaded; a fresh process takes seconds to load them.
  workerIdleMemoryLimit: '450MB',
};
