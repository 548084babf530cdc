import { builtinModules } from 'node:module';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Two things the compiler cannot hold: which folder may import which, and what workflow code may touch.
// test/architecture/imports.test.ts holds the same law over whole import chains.

/** Folders at the top of the repository, seen from a file however deep below another one. */
const top = (folders, message, options = {}) => ({ folders, message, ...options });
/** A folder or package by pattern. */
const ban = (regex, message, options = {}) => ({ regex, message, ...options });

const bareBuiltins = ban(
  `^(?:${builtinModules.filter((name) => !name.startsWith('_') && !name.includes(':')).join('|')})$`,
  'Write the node: prefix.',
);
const environment = ban(
  '^(?:node:)?process$',
  'Only shared/platform/config.ts reads the environment.',
);
const extensionless = ban(
  '^\\.{1,2}/.*(?<!\\.(?:ts|tsx|js|mjs|json|css|svg|ts\\?worker))$',
  'Relative imports name the file, with its extension.',
);
const everywhere = [bareBuiltins, environment, extensionless];

const noNode = ban('^node:', 'Neither the workflow sandbox nor a browser has the modules of Node.');
const noTemporal = ban(
  '^@temporalio/',
  'Only workflows, activities, worker, api and shared/platform know Temporal.',
);
const noNodeHalf = ban(
  '^\\.{1,2}/(?:.*/)?(?:crypto|db|platform|operations)/',
  'The pure half of shared takes nothing from its Node half.',
);
const noProcesses = top(
  'api|worker|workflows|activities|client|cli|scripts|test|bench',
  'shared stands below every process.',
);
const noScripts = top(
  'scripts|test|bench',
  'Product code takes nothing from scripts, tests or benchmarks.',
);

/** The import law: who may not take what. No file is in two of these, since the later rule would replace the earlier. */
const fences = [
  {
    name: 'shared, pure half',
    folder: 'shared',
    ignores: ['shared/{graph,crypto,db,platform,operations}/**'],
    patterns: [
      noNode,
      noTemporal,
      noNodeHalf,
      noProcesses,
      ban(
        '^(?!\\.)(?!node:)(?!@temporalio/)(?!zod$)(?!re2js$)(?!croner$)',
        'The pure half takes zod, re2js and croner, no other package.',
      ),
    ],
  },
  {
    name: 'shared/graph',
    folder: 'shared/graph',
    patterns: [
      noNode,
      noTemporal,
      noNodeHalf,
      noProcesses,
      ban(
        '^(?!\\.)(?!node:)(?!@temporalio/)(?!re2js$)',
        'The graph engine takes re2js at most; zod only as a type.',
        {
          allowTypeImports: true,
        },
      ),
    ],
  },
  {
    name: 'shared/crypto',
    folder: 'shared/crypto',
    patterns: [
      noTemporal,
      noProcesses,
      ban('^\\.{1,2}/(?:.*/)?(?:db|platform|operations)/', 'Ids and secrets know no database.'),
    ],
  },
  {
    name: 'shared/db',
    folder: 'shared/db',
    patterns: [
      noTemporal,
      noProcesses,
      ban('^\\.{1,2}/(?:.*/)?operations/', 'SQL modules know no operation.'),
      ban('^\\.{1,2}/(?:.*/)?platform/', 'SQL modules are given what they need of the platform.'),
    ],
  },
  {
    name: 'shared/platform',
    folder: 'shared/platform',
    patterns: [
      noProcesses,
      ban('^\\.{1,2}/(?:.*/)?operations/', 'The platform knows no operation.'),
    ],
  },
  { name: 'shared/operations', folder: 'shared/operations', patterns: [noProcesses] },
  {
    name: 'workflows',
    folder: 'workflows',
    patterns: [
      noNode,
      noNodeHalf,
      noScripts,
      top('api|worker', 'Workflow code takes the pure half of shared, and activities as types.'),
      top('activities', 'Activities are imported as types only.', { allowTypeImports: true }),
      ban(
        '^(?!\\.)(?!node:)(?!@temporalio/(?:workflow|common)$)',
        'The workflow bundle holds @temporalio/workflow and @temporalio/common, no other package.',
        { allowTypeImports: true },
      ),
    ],
  },
  {
    name: 'activities',
    folder: 'activities',
    patterns: [
      noScripts,
      top('api|worker|workflows', 'Activities take shared only.'),
      ban(
        '^@temporalio/(?:worker|workflow)$',
        'Activities take @temporalio/activity, client and common.',
      ),
    ],
  },
  {
    name: 'api',
    folder: 'api',
    patterns: [
      noScripts,
      top(
        'worker|workflows|activities',
        'The API starts executions by the names in shared/contract.',
      ),
      ban(
        '^@temporalio/(?:worker|workflow|activity)$',
        'The API takes @temporalio/client and common.',
      ),
    ],
  },
  {
    name: 'worker',
    folder: 'worker',
    patterns: [
      noScripts,
      top('api', 'The worker and the API share nothing but shared.'),
      top('workflows', 'Workflow code is bundled by path.'),
    ],
  },
  {
    name: 'client',
    folder: 'client',
    patterns: [ban('^(?!\\./)', 'The client is a package of its own, without dependencies.')],
  },
  {
    name: 'cli',
    folder: 'cli',
    patterns: [
      noTemporal,
      noScripts,
      top(
        'api|worker|workflows|activities|shared',
        'The command speaks to the service through the client.',
      ),
    ],
  },
  {
    name: 'console',
    folder: 'console/src',
    patterns: [
      noNode,
      noTemporal,
      noScripts,
      top(
        'api|worker|workflows|activities|cli',
        'The console speaks to the service through the client.',
      ),
      ban(
        '^\\.{1,2}/(?:.*/)?shared/(?:crypto|db|platform|operations)/',
        'A browser loads the pure half of shared.',
      ),
    ],
  },
];

/** Folders below a fenced one that hold files. */
const LEVELS = [0, 1, 2, 3, 4];

/** A fence for the files of each level: what is at the top is that many folders up. */
const fencesOf = ({ name, folder, ignores = [], patterns }) =>
  LEVELS.map((below) => {
    const up = folder.split('/').length + below;
    const regexOf = ({ folders, ...rest }) =>
      folders === undefined ? rest : { regex: `^(?:\\.\\./){${up}}(?:${folders})/`, ...rest };
    return {
      name: `imports of ${name}, level ${below}`,
      files: [`${folder}/${'*/'.repeat(below)}*.{ts,tsx}`],
      ignores,
      rules: {
        '@typescript-eslint/no-restricted-imports': [
          'error',
          { patterns: [...everywhere, ...patterns.map(regexOf)] },
        ],
      },
    };
  });

/** Globals that a workflow must not see: they differ between two replays, or the sandbox does not have them. */
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

const noEnvironment = {
  object: 'process',
  property: 'env',
  message: 'Only shared/platform/config.ts reads the environment.',
};
const noGlobalEnvironment = { ...noEnvironment, object: 'globalThis', property: 'process' };

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      '**/dist/',
      'coverage/',
      '.data/',
      '.cache/',
      'bench/results/',
      'client/openapi.ts',
      'examples/data-client/openapi.ts',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },

  {
    name: 'every source',
    files: ['**/*.ts', '**/*.tsx', '**/*.js', '**/*.mjs'],
    rules: {
      curly: ['error', 'multi-line'],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-constant-binary-expression': 'error',
      'no-self-compare': 'error',
      'no-sparse-arrays': 'error',
      'no-template-curly-in-string': 'error',
      'no-unsafe-finally': 'error',
      'no-unreachable-loop': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },

  {
    name: 'typescript',
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // `return resolve();` reads well and hides nothing.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // Spreading a string by code points is what is meant where it is done: surrogate pairs stay whole.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // Refuses types that two packages declare alike, such as Headers of Node and of undici.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Refuses NonNullable<unknown>, the way to say "anything but null and undefined".
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false } },
      ],
      // Calls an assertion unnecessary that type inference needs (Fastify's logger), and its fix breaks the build.
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      // Dropping a key from an object that is about to be sent is plain.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // Handlers and fakes are async because their interface is, with or without something to await.
      '@typescript-eslint/require-await': 'off',
      // `max(0, ...)` over a possibly empty list and the like: an explicit type argument documents the shape.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Every `list[index]` may be undefined for the compiler; `list[index]!` is how code that has just computed the
      // index says otherwise. No other `!`.
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Exports have names.' },
        {
          selector:
            'TSNonNullExpression:not([expression.type="MemberExpression"][expression.computed=true])',
          message: 'Test for the missing value; only an indexed element may be asserted.',
        },
      ],
      'no-restricted-properties': ['error', noEnvironment, noGlobalEnvironment],
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: everywhere }],
    },
  },

  ...fences.flatMap(fencesOf),

  {
    name: 'determinism',
    files: ['workflows/**/*.ts', 'shared/{graph,values}/**/*.ts'],
    // The API and the worker ask it when a schedule is due.
    ignores: ['shared/values/cron.ts'],
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
      // A signal handler changes variables between two lines, and a stored graph may be older than its type.
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
  {
    name: 'the graph engine',
    files: ['shared/{graph,values}/**/*.ts'],
    rules: {
      // Its maps and stacks are total over the nodes of a compiled graph; property tests stand behind each `!`.
      'no-restricted-syntax': 'off',
    },
  },

  {
    name: 'the console',
    files: ['console/src/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
    },
  },
  {
    name: 'the modules that read the environment',
    files: ['shared/platform/config.ts', 'cli/environment.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },

  {
    name: 'what runs at a terminal or while the image is built',
    files: ['scripts/**', 'bench/**', 'test/**', 'docker/**', 'worker/bundle.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    name: 'scripts, benchmarks and tests set the stage for other processes',
    files: ['scripts/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'],
    rules: {
      'no-restricted-properties': 'off',
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [bareBuiltins, extensionless] },
      ],
    },
  },
  {
    name: 'tests',
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // Jest looks for the default export of a set-up file; a test that trips over a missing value fails, as it should.
      'no-restricted-syntax': 'off',
      'no-template-curly-in-string': 'off',
      // Answers of the API arrive as `any`; their shape is what the test asserts.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
);
