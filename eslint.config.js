import { builtinModules } from 'node:module';
import tseslint from 'typescript-eslint';

// Which folder can import which. oxlint, which has all other rules, does not support lookahead in patterns.
// test/architecture/imports.test.ts enforces the same rules over whole import chains.

/** A folder or package by pattern. */
const ban = (regex, message, options = {}) => ({ regex, message, ...options });
/** Folders at the top of the repository. */
const top = (folders, message, options) => ban(`^#(?:${folders})/`, message, options);
/** Folders of `shared`, also from the files beside them. */
const inShared = (folders, message) => ban(`^(?:#shared|\\.)/(?:${folders})/`, message);

const bareBuiltins = ban(
  `^(?:${builtinModules.filter((name) => !name.startsWith('_') && !name.includes(':')).join('|')})$`,
  'Write the node: prefix.',
);
const environment = ban(
  '^(?:node:)?process$',
  'Only shared/platform/config.ts reads the environment.',
);
const climbing = ban(
  '^\\.\\./',
  'Name a file of another folder by its path from the top: #shared/errors.ts.',
);
const extensionless = ban(
  '^(?:\\.|#).*(?<!\\.(?:ts|tsx|js|mjs|json|css|svg|ts\\?worker))$',
  'Imports of files have the extension.',
);
const everywhere = [bareBuiltins, environment, climbing, extensionless];

const noNode = ban('^node:', 'Neither the workflow sandbox nor a browser has the modules of Node.');
const noTemporal = ban(
  '^@temporalio/',
  'Only workflows, activities, worker, api and shared/platform know Temporal.',
);
const noNodeHalf = inShared(
  'crypto|db|platform|operations|seed',
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

/** The import rules. No file is in two of these, since the later rule would replace the earlier. */
const fences = [
  {
    name: 'shared, pure half',
    folder: 'shared',
    ignores: ['shared/{graph,crypto,db,platform,operations,seed}/**'],
    patterns: [
      noNode,
      noTemporal,
      noNodeHalf,
      noProcesses,
      ban(
        '^(?![.#])(?!node:)(?!@temporalio/)(?!zod$)(?!re2js$)',
        'The pure half takes zod and re2js, no other package.',
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
        '^(?![.#])(?!node:)(?!@temporalio/)(?!re2js$)',
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
      inShared('db|platform|operations|seed', 'Ids and secrets know no database.'),
    ],
  },
  {
    name: 'shared/db',
    folder: 'shared/db',
    patterns: [
      noTemporal,
      noProcesses,
      inShared('operations|seed', 'SQL modules know no operation.'),
      inShared('platform', 'SQL modules are given what they need of the platform.'),
    ],
  },
  {
    name: 'shared/platform',
    folder: 'shared/platform',
    patterns: [noProcesses, inShared('operations|seed', 'The platform knows no operation.')],
  },
  {
    name: 'shared/operations',
    folder: 'shared/operations',
    patterns: [noProcesses, inShared('seed', 'No operation depends on demo data.')],
  },
  { name: 'shared/seed', folder: 'shared/seed', patterns: [noTemporal, noProcesses] },
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
        '^(?![.#])(?!node:)(?!@temporalio/(?:workflow|common)$)',
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
        'api|worker|workflows|activities',
        'The command speaks to the service through the client.',
      ),
      inShared(
        'crypto|db|platform|operations|seed',
        'The command checks files with the pure half of shared, and reaches the rest through the client.',
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
      inShared('crypto|db|platform|operations|seed', 'A browser loads the pure half of shared.'),
    ],
  },
];

const fenceOf = ({ name, folder, ignores = [], patterns }) => ({
  name: `imports of ${name}`,
  files: [`${folder}/**/*.{ts,tsx}`],
  ignores,
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      { patterns: [...everywhere, ...patterns] },
    ],
  },
});

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
  // ESLint does not know the directives that disable oxlint rules; oxlint reports the unused ones.
  { linterOptions: { reportUnusedDisableDirectives: 'off' } },

  {
    name: 'typescript',
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parser: tseslint.parser },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      // For the compiler, every `list[index]` can be undefined; code that has just computed the index writes
      // `list[index]!`. No other `!` is allowed.
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Exports have names.' },
        {
          selector:
            'TSNonNullExpression:not([expression.type="MemberExpression"][expression.computed=true])',
          message: 'Test for the missing value; only an indexed element may be asserted.',
        },
      ],
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: everywhere }],
    },
  },

  ...fences.map(fenceOf),

  {
    name: 'sizes of what is written by hand',
    files: [
      '{api,worker,workflows,activities,shared,client,cli,console,scripts,docker,bench}/**/*.{ts,tsx,mjs}',
      '*.{js,mjs,ts}',
    ],
    rules: {
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },

  {
    name: 'the graph engine',
    files: ['shared/{graph,values}/**/*.ts'],
    rules: {
      // Its maps and stacks are total over the nodes of a compiled graph; property tests cover each `!`.
      'no-restricted-syntax': 'off',
    },
  },

  {
    name: 'scripts, benchmarks and tests set the stage for other processes',
    files: ['scripts/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [bareBuiltins, climbing, extensionless] },
      ],
    },
  },
  {
    name: 'a package of its own, whose files stand beside those of this one',
    files: ['bench/peers/**/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [bareBuiltins] }] },
  },
  {
    name: 'tests',
    // A missing value fails the test, as it should.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    name: 'tests that run on any machine',
    files: ['test/**/*.ts'],
    ignores: ['test/{bench,cluster,fuzz,image,storm}/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'MemberExpression[property.name=/^toBeLess/] > CallExpression[callee.name="expect"] CallExpression:matches([callee.object.name=/^(performance|Date)$/][callee.property.name="now"], [callee.property.name=/[cC]puUsage$/])',
          message:
            'A test does not fail because the machine is slow. Use `growth` for computations, and order or counts for waiting.',
        },
      ],
    },
  },
  {
    name: 'configuration',
    files: ['*.config.ts', 'console/vite.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
