import { defineConfig } from 'oxlint';

// dependency-cruiser.config.mjs says which file can import which; here is how an import is written.

/** Globals that a workflow must not use: they differ between two replays, or the sandbox does not have them. */
const nondeterministic = [
  ['Date', 'Workflow code reads no clock; an activity passes times in.'],
  ['performance', 'Workflow code reads no clock.'],
  ['crypto', 'Randomness comes from activities, or uuid4 of @temporalio/workflow.'],
  ['setTimeout', 'Use sleep of @temporalio/workflow.'],
  ['setInterval', 'Use sleep of @temporalio/workflow.'],
  ['setImmediate', 'Not in the sandbox.'],
  ['queueMicrotask', 'Not in the sandbox.'],
  ['structuredClone', 'Not in the sandbox.'],
  ['fetch', 'Input and output belong to activities.'],
  ['WebSocket', 'Input and output belong to activities.'],
  ['process', 'Workflow code has no environment.'],
  ['Buffer', 'Not in the sandbox.'],
  ['require', 'Not in the sandbox.'],
  ['WeakRef', 'Depends on garbage collection.'],
  ['FinalizationRegistry', 'Depends on garbage collection.'],
  ['Intl', 'Depends on the locale data of the machine.'],
].map(([name, message]) => ({ name, message }));

/** A virtual clock computes with dates, and copies are made for mocks. */
const isNotInPlay = ({ name }: { name: string }): boolean =>
  name !== 'Date' && name !== 'structuredClone';

const noEnvironment = {
  object: 'process',
  property: 'env',
  message: 'Only shared/platform/config.ts reads the environment.',
};
const noProcessModule = {
  name: 'node:process',
  message: noEnvironment.message,
};
const importPatterns = [
  {
    regex: '^\\.\\./',
    message: 'Name a file of another folder by its path from the top: #shared/errors.ts.',
  },
  { regex: '^(?:\\./|#)[^.]+$', message: 'Imports of files have the extension.' },
];
const noStatements = {
  name: '#shared/db/pool.ts',
  importNames: ['sql', 'statement'],
  message: 'SQL statements stand in shared/db.',
};
const noGlobalEnvironment = { ...noEnvironment, object: 'globalThis', property: 'process' };

const errors = (...rules: string[]): Record<string, 'error'> =>
  Object.fromEntries(rules.map((rule) => [rule, 'error']));

export default defineConfig({
  plugins: ['typescript', 'react', 'import', 'unicorn'],
  categories: { correctness: 'off' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  env: { builtin: true },
  ignorePatterns: [
    'node_modules/',
    '**/dist/',
    'coverage/',
    '.data/',
    '.cache/',
    'bench/results/',
    'client/openapi.ts',
    'examples/data-client/openapi.ts',
  ],
  rules: {
    ...errors(
      'no-console',
      'no-constant-binary-expression',
      'no-self-compare',
      'no-sparse-arrays',
      'no-template-curly-in-string',
      'no-unsafe-finally',
      'no-unreachable-loop',
      'no-var',
      'object-shorthand',
      'prefer-const',
      'import/no-default-export',
      'unicorn/prefer-node-protocol',
    ),
    'no-restricted-imports': [
      'error',
      { paths: [noProcessModule, noStatements], patterns: importPatterns },
    ],
    curly: ['error', 'multi-line'],
    eqeqeq: ['error', 'always', { null: 'ignore' }],
  },
  overrides: [
    {
      files: ['**/*.ts', '**/*.tsx'],
      rules: {
        ...errors(
          'no-array-constructor',
          'no-unused-expressions',
          'no-useless-constructor',
          'prefer-rest-params',
          'prefer-spread',
          'typescript/await-thenable',
          'typescript/consistent-type-exports',
          'typescript/no-array-delete',
          'typescript/no-base-to-string',
          'typescript/no-deprecated',
          'typescript/no-duplicate-enum-values',
          'typescript/no-duplicate-type-constituents',
          'typescript/no-empty-object-type',
          'typescript/no-explicit-any',
          'typescript/no-extra-non-null-assertion',
          'typescript/no-extraneous-class',
          'typescript/no-floating-promises',
          'typescript/no-for-in-array',
          'typescript/no-implied-eval',
          'typescript/no-import-type-side-effects',
          'typescript/no-invalid-void-type',
          'typescript/no-meaningless-void-operator',
          'typescript/no-misused-new',
          'typescript/no-mixed-enums',
          'typescript/no-namespace',
          'typescript/no-non-null-asserted-nullish-coalescing',
          'typescript/no-non-null-asserted-optional-chain',
          'typescript/no-redundant-type-constituents',
          'typescript/no-require-imports',
          'typescript/no-this-alias',
          'typescript/no-unnecessary-boolean-literal-compare',
          'typescript/no-unnecessary-template-expression',
          'typescript/no-unnecessary-type-arguments',
          'typescript/no-unnecessary-type-constraint',
          'typescript/no-unnecessary-type-conversion',
          'typescript/no-unsafe-argument',
          'typescript/no-unsafe-assignment',
          'typescript/no-unsafe-call',
          'typescript/no-unsafe-declaration-merging',
          'typescript/no-unsafe-enum-comparison',
          'typescript/no-unsafe-function-type',
          'typescript/no-unsafe-member-access',
          'typescript/no-unsafe-return',
          'typescript/no-unsafe-unary-minus',
          'typescript/no-useless-default-assignment',
          'typescript/no-wrapper-object-types',
          'typescript/only-throw-error',
          'typescript/prefer-as-const',
          'typescript/prefer-literal-enum-member',
          'typescript/prefer-namespace-keyword',
          'typescript/prefer-promise-reject-errors',
          'typescript/prefer-reduce-type-parameter',
          'typescript/prefer-return-this-type',
          'typescript/related-getter-setter-pairs',
          'typescript/triple-slash-reference',
          'typescript/unbound-method',
          'typescript/unified-signatures',
          'typescript/use-unknown-in-catch-callback-variable',
        ),
        'no-unused-vars': [
          'error',
          { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
        ],
        'typescript/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
        'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
        'typescript/switch-exhaustiveness-check': [
          'error',
          { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
        ],
        'typescript/no-unnecessary-condition': [
          'error',
          { allowConstantLoopConditions: 'only-allowed-literals' },
        ],
        'typescript/restrict-plus-operands': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
        'typescript/restrict-template-expressions': [
          'error',
          { allowNumber: true, allowBoolean: true },
        ],
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        // Where a string is spread, the split by code points is intended: surrogate pairs stay whole.
        'typescript/no-misused-spread': ['error', { allow: ['string'] }],
        'typescript/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
        'no-restricted-properties': ['error', noEnvironment, noGlobalEnvironment],
      },
    },
    {
      files: ['workflows/**/*.ts', 'shared/{graph,values}/**/*.ts'],
      rules: {
        'no-restricted-globals': ['error', ...nondeterministic],
        'no-restricted-properties': [
          'error',
          noEnvironment,
          noGlobalEnvironment,
          {
            object: 'Math',
            property: 'random',
            message: 'Not the same in two replays of other code.',
          },
          { property: 'localeCompare', message: 'Depends on locale data; compare with < and >.' },
          { property: 'toLocaleString', message: 'Depends on locale data.' },
          { property: 'toLocaleLowerCase', message: 'Depends on locale data.' },
          { property: 'toLocaleUpperCase', message: 'Depends on locale data.' },
        ],
        // A signal handler can change variables between two lines, and a stored graph can be older than its type.
        'typescript/no-unnecessary-condition': 'off',
      },
    },
    {
      // The API and the worker use it to compute when a schedule is due.
      files: ['shared/values/cron.ts', 'shared/values/iso-time.ts', 'shared/values/time-zone.ts'],
      rules: {
        'no-restricted-globals': 'off',
        'no-restricted-properties': ['error', noEnvironment, noGlobalEnvironment],
      },
    },
    {
      files: ['shared/db/**/*.ts'],
      rules: {
        'no-restricted-imports': ['error', { paths: [noProcessModule], patterns: importPatterns }],
      },
    },
    {
      // It runs in tests of workflows only, and its clock is virtual.
      files: ['shared/graph/play/**/*.ts'],
      rules: {
        'no-restricted-globals': ['error', ...nondeterministic.filter(isNotInPlay)],
        'no-restricted-properties': [
          'error',
          noEnvironment,
          noGlobalEnvironment,
          { object: 'Date', property: 'now', message: 'Time is that of the virtual clock.' },
          { object: 'Math', property: 'random', message: 'A run is the same each time.' },
        ],
      },
    },
    {
      // The folder is a package of its own, in which a path from the top would begin there.
      files: ['client/testing.ts'],
      rules: { 'no-restricted-imports': ['error', { paths: [noProcessModule] }] },
    },
    {
      files: ['console/src/**/*.{ts,tsx}'],
      rules: errors('react/rules-of-hooks', 'react/exhaustive-deps'),
    },
    {
      // The modules that read the environment.
      files: ['shared/platform/config.ts', 'cli/environment.ts'],
      rules: { 'no-restricted-properties': 'off' },
    },
    {
      files: [
        '{api,worker,workflows,activities,shared,client,cli,console,scripts,docker,bench}/**/*.{ts,tsx,mjs}',
      ],
      rules: {
        'max-lines': ['error', { max: 400 }],
        'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      },
    },
    {
      // Functions that declare routes, commands and methods one after the other.
      files: [
        'api/routes/**/*.ts',
        'cli/commands/**/*.ts',
        'client/*.ts',
        '**/palette/commands.ts',
      ],
      rules: {
        'max-lines-per-function': ['error', { max: 150, skipBlankLines: true, skipComments: true }],
      },
    },
    {
      // A component is a page of markup, a form as long as its fields: splitting one passes its state on by name.
      files: ['console/src/**/*.tsx'],
      rules: {
        'max-lines-per-function': ['error', { max: 200, skipBlankLines: true, skipComments: true }],
      },
    },
    {
      // Tools find configurations, environments and workflows by the default export.
      files: ['**/*.config.{ts,mjs}', 'workflows/index.ts', 'test/{support,fixtures}/**'],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      // Code that runs in a terminal or during the build of the image.
      files: ['actions/**', 'scripts/**', 'bench/**', 'test/**', 'docker/**', 'worker/bundle.ts'],
      rules: { 'no-console': 'off' },
    },
    {
      // Scripts, benchmarks and tests set the environment of other processes.
      files: ['actions/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'],
      rules: {
        'no-restricted-properties': 'off',
        'no-restricted-imports': ['error', { patterns: importPatterns }],
      },
    },
    {
      files: ['test/**/*.ts', 'bench/**/*.ts'],
      rules: {
        'no-template-curly-in-string': 'off',
        // Responses of the API are typed `any`; tests assert their shape.
        'typescript/no-explicit-any': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
        'typescript/unbound-method': 'off',
        'typescript/no-unnecessary-condition': 'off',
      },
    },
    {
      // A package of its own inside of this one, and what runs in the image.
      files: ['bench/peers/**/*.{ts,mjs}', 'docker/migrate.mjs'],
      rules: { 'no-restricted-imports': 'off' },
    },
  ],
});
