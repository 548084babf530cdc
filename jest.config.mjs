// Tests are native ES modules: the sources use import.meta.dirname and some packages ship no CommonJS.
// That needs --experimental-vm-modules, which scripts/test.ts sets; swc only strips the types.
/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', importAttributes: true },
          target: 'es2024',
          keepClassNames: true,
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // Its default is in the temporary folder, which goes with the run.
  cacheDirectory: '<rootDir>/.cache/jest',
  // Anchored to this folder, so that a copy of the project below some other .cache still finds its tests.
  modulePathIgnorePatterns: ['<rootDir>/.data/', '<rootDir>/.cache/', '<rootDir>/dist/'],
  testPathIgnorePatterns: ['/node_modules/'],
  setupFilesAfterEnv: ['<rootDir>/test/support/log-teardown.ts'],
  watchman: false,
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  testTimeout: 30_000,
  // Two database- and server-bound files at a time: with three, what waits for a clock comes late.
  maxWorkers: 2,
};
