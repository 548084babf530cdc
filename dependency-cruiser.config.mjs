// The import law: which file can import which. `npm run check` enforces it; ARCHITECTURE.md explains it.

/** Code that runs in production, below the folders of scripts, benchmarks and tests. */
const PRODUCT = '^(?:api|worker|workflows|activities|shared|client|cli|console/src)/';
const NODE_HALF = '^shared/(?:crypto|db|platform|operations|seed)/';
const PURE_HALF = '^shared/(?!(?:crypto|db|platform|operations|seed)/)';

/** `from` imports nothing else: each of `only` is the pattern of a path. Packages are below node_modules. */
const only = (name, from, only, comment, { types = [] } = {}) => [
  {
    name,
    comment,
    severity: 'error',
    from,
    to: {
      pathNot: [...only, ...types],
      // Modules of Node, and what is not there, are other rules.
      couldNotResolve: false,
      dependencyTypesNot: ['core'],
    },
  },
  ...types.map((path) => ({
    name: `${name}: types only`,
    comment,
    severity: 'error',
    from,
    to: { path, dependencyTypesNot: ['type-only'] },
  })),
];

/** `from` does not import `to`. */
const never = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from,
  to: typeof to === 'string' ? { path: to } : to,
});

const packages = (...names) => `^node_modules/(?:${names.join('|')})/`;
const BUILT_IN = { dependencyTypes: ['core'] };
const TEMPORAL = packages('@temporalio/[^/]+');

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    never(
      'no circle',
      {},
      { circular: true },
      'Two files that need each other are one file, or need a third; a type counts, too.',
    ),
    never(
      'resolved',
      // It runs in the image.
      { pathNot: '^docker/migrate\\.mjs$' },
      // A file of types alone.
      { couldNotResolve: true, pathNot: '^fastify/types/' },
      'The file or package is not there.',
    ),
    never(
      'no packages of development',
      { path: PRODUCT, pathNot: '^console/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
      'The image has only the dependencies of package.json.',
    ),

    ...only(
      'pure half of shared',
      { path: PURE_HALF, pathNot: '^shared/openapi/' },
      [PURE_HALF, packages('zod', 're2js')],
      'The pure half of shared, for workflows and browsers, takes itself, zod and re2js.',
    ),
    ...only(
      'shared/openapi',
      { path: '^shared/openapi/' },
      [PURE_HALF, packages('zod', 'yaml')],
      'Foreign documents are JSON or YAML.',
    ),
    never(
      'pure half of shared: nothing of Node',
      { path: PURE_HALF },
      BUILT_IN,
      'Neither the workflow sandbox nor a browser has the modules of Node.',
    ),
    ...only(
      'shared/crypto',
      { path: '^shared/crypto/' },
      [PURE_HALF, '^shared/crypto/', '^node_modules/'],
      'Ids and secrets know no database and no platform.',
    ),
    ...only(
      'shared/db',
      { path: '^shared/db/' },
      [PURE_HALF, '^shared/(?:crypto|db)/', '^node_modules/'],
      'SQL modules know no operation, and are given what they need of the platform.',
    ),
    ...only(
      'shared/platform',
      { path: '^shared/platform/' },
      [PURE_HALF, '^shared/(?:crypto|db|platform)/', '^node_modules/', '^package\\.json$'],
      'The platform knows no operation.',
    ),
    ...only(
      'shared/operations',
      { path: '^shared/operations/' },
      [PURE_HALF, '^shared/(?:crypto|db|platform|operations)/', '^node_modules/'],
      'No operation depends on demo data or on a process.',
    ),
    ...only(
      'shared/seed',
      { path: '^shared/seed/' },
      ['^shared/', '^node_modules/'],
      'Demo data knows no process.',
    ),
    never(
      'shared without Temporal',
      { path: '^shared/', pathNot: '^shared/(?:platform|operations)/' },
      TEMPORAL,
      'Only workflows, activities, worker, api, shared/platform and shared/operations know Temporal.',
    ),

    ...only(
      'workflows',
      { path: '^workflows/' },
      ['^workflows/', PURE_HALF, packages('@temporalio/(?:workflow|common)')],
      'The workflow bundle holds the pure half of shared, @temporalio/workflow and @temporalio/common; activities are imported as types.',
      { types: ['^activities/', packages('@temporalio/activity')] },
    ),
    never(
      'workflows: nothing of Node',
      { path: '^workflows/', pathNot: '^workflows/native-payloads\\.ts$' },
      BUILT_IN,
      'The workflow sandbox does not have the modules of Node.',
    ),
    ...only(
      'activities',
      { path: '^activities/' },
      ['^activities/', '^shared/', '^node_modules/'],
      'Activities take shared only.',
    ),
    never(
      'activities: packages of Temporal',
      { path: '^activities/' },
      packages('@temporalio/(?:worker|workflow)'),
      'Activities take @temporalio/activity, client and common.',
    ),
    ...only(
      'worker',
      { path: '^worker/' },
      ['^worker/', '^activities/', '^shared/', '^node_modules/', '^package\\.json$'],
      'The worker takes activities and shared; workflow code is bundled by path.',
    ),
    ...only(
      'api',
      { path: '^api/' },
      ['^api/', '^shared/', '^node_modules/', '^package\\.json$'],
      'The API takes shared, and starts executions by the names in shared/execution.ts.',
    ),
    never(
      'api: packages of Temporal',
      { path: '^api/' },
      packages('@temporalio/(?:worker|workflow|activity)'),
      'The API takes @temporalio/client and common.',
    ),

    ...only(
      'client',
      { path: '^client/', pathNot: '^client/(?:react|testing)\\.ts$' },
      ['^client/(?!testing\\.ts$)'],
      'The client is a package of its own, without dependencies.',
    ),
    ...only(
      'client for tests',
      { path: '^client/testing\\.ts$' },
      ['^shared/graph/play/', '^shared/platform/calls/(?:argument|input)-schema\\.ts$'],
      'Tests of workflows run on the scheduler of the service, and compare with JSON Schemas as it does; the build bundles both. Nothing else of the client needs them.',
    ),
    ...only(
      'client hook',
      { path: '^client/react\\.ts$' },
      ['^client/', '^node_modules/(?:@types/)?react/'],
      'The hook takes the React of the page.',
    ),
    never('client: nothing of Node', { path: '^client/' }, BUILT_IN, 'It runs in browsers, too.'),
    ...only(
      'cli',
      { path: '^cli/' },
      ['^cli/', '^client/', PURE_HALF, '^node_modules/', '^package\\.json$'],
      'The command checks files with the pure half of shared, and reaches the rest through the client.',
    ),
    never('cli without Temporal', { path: '^cli/' }, TEMPORAL, 'It speaks to the API only.'),
    ...only(
      'site',
      { path: '^site/' },
      ['^site/', '^console/(?:precompress\\.ts|src/fonts/)', PURE_HALF, '^node_modules/'],
      'The documentation site is built from Markdown; no process imports it.',
    ),
    ...only(
      'console',
      { path: '^console/src/' },
      ['^console/src/', '^client/', PURE_HALF, '^node_modules/'],
      'A browser loads the pure half of shared; the console reaches the rest through the client.',
    ),
    never(
      'console: nothing of Node',
      { path: '^console/src/' },
      BUILT_IN,
      'A browser does not have the modules of Node.',
    ),
    never(
      'console without Temporal',
      { path: '^console/src/' },
      TEMPORAL,
      'A browser has no Temporal.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: '^(?:client|examples/data-client)/openapi\\.ts$|^bench/(?:peers/programs|results)/',
    },
    // Imports of types, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
