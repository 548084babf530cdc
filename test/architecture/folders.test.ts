import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');

/** Folders of production code, and folders of supporting code. */
const productFolders = [
  'shared',
  'workflows',
  'activities',
  'worker',
  'api',
  'client',
  'cli',
  'console',
  'site',
];
const supportFolders = ['actions', 'scripts', 'bench', 'test', 'docker'];

const paths = [...productFolders, ...supportFolders].flatMap(listSources);
const product = paths.filter((path) =>
  productFolders.some((folder) => path.startsWith(`${folder}/`)),
);

function listSources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => /\.(?:ts|tsx|js|mjs)$/.test(path) && !/\.d\.m?ts$/.test(path))
    .filter((path) => !/^(?:bench\/results|(?:console|site)\/dist)\/|\/node_modules\//.test(path));
}

/** `path:line` for each place of these files that matches. */
const placesOf = (files: string[], pattern: RegExp): string[] =>
  files.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [...text.matchAll(pattern)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    );
  });

/** Folders whose modules belong in subfolders: the modules allowed beside those, and where any other module belongs. */
const families: Record<string, { beside: string[]; belongs: string }> = {
  api: {
    beside: ['app', 'console', 'deps', 'main', 'run-actions'],
    belongs:
      'HTTP itself in http/, who asks and what they may do in identity/, routes in routes/, the data API in data/, ' +
      'webhooks in inbound/, batching in load/, models in mcp/, sockets in stream/, the documents in openapi/',
  },
  'shared/db': {
    beside: [
      'commit-outcome',
      'cursor',
      'idempotency',
      'migrate',
      'recalled-functions',
      'month',
      'pool',
      'preconditions',
      'statement',
      'stored-json',
      'upgrade',
    ],
    belongs: 'statements are in the folder of their noun',
  },
  'shared/contract': {
    beside: ['bounds', 'common', 'health', 'if-match', 'mcp'],
    belongs: 'schemas are in the folder of their noun',
  },
  'shared/operations': {
    beside: ['bookkeeping', 'each-of', 'loop', 'start-once', 'sweep', 'upgrade'],
    belongs: 'actions are in the folder of their noun',
  },
  'api/routes/ops': { beside: ['health'], belongs: 'routes are in the folder of their noun' },
  'shared/platform': {
    beside: [
      'config',
      'logger',
      'mailer',
      'module-url',
      'payload-store',
      'process-metrics',
      'schema',
      'temporal',
      'settled-environment',
      'settings-files',
    ],
    belongs:
      'outgoing requests in egress/, calls to tools and models in calls/, work threads in threads/, passwords and ' +
      'sessions in secrets/',
  },
  'console/src/pages': { beside: [], belongs: 'pages are in the folder of their noun' },
};

const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** The nouns of ARCHITECTURE.md: each names the same folder on every layer. */
const [, table = ''] = /### Nouns\n([^#]*)/.exec(architecture.replaceAll('(#', '(')) ?? [];
const nouns = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([a-z]+)`/g)].map(([, noun]) => noun),
);

/** The layers, and their folders that are no nouns. */
const layers: Record<string, string[]> = {
  'shared/contract': [],
  'shared/db': ['functions'],
  'shared/operations': ['guards'],
  'api/routes/ops': [],
  'console/src/pages': ['help', 'overview', 'sign-in', 'templates', 'workspace'],
};

describe('files and folders', () => {
  const bad = [
    'util',
    'utils',
    'helper',
    'helpers',
    'common',
    'misc',
    'lib',
    'manager',
    'managers',
  ];
  const nameless = [...bad, 'service', 'services'];

  test('have kebab-case names', () => {
    const kebab =
      /^[a-z0-9]+(?:-[a-z0-9]+)*(?:(?:\.soak)?\.test|\.bench|\.config)?\.(?:ts|tsx|js|mjs)$/;
    const folder = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
    const wrong = paths.filter((path) => {
      const parts = path.split('/');
      const file = parts.pop() ?? '';
      return !kebab.test(file) || !parts.every((part) => folder.test(part));
    });
    expect(wrong).toEqual([]);
  });

  test('are not named util, helpers, service or the like', () => {
    // The schemas shared by several resources of the contract have no better name.
    const wrong = paths
      .filter((path) => path !== 'shared/contract/common.ts')
      .filter((path) =>
        path.split('/').some((part) => nameless.includes(part.replace(/\..*/, ''))),
      );
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(families))('of %s are in the right subfolder', (folder, family) => {
    const strays = product
      .filter((path) => posix.dirname(path) === folder)
      .filter((path) => !family.beside.includes(posix.basename(path).replace(/\.tsx?$/, '')))
      .map((path) => `${path}: ${family.belongs}`);
    expect(strays).toEqual([]);
  });

  test.each(Object.entries(layers))('of %s are in the folder of a noun', (layer, others) => {
    const folders = new Set(
      product
        .filter((path) => path.startsWith(`${layer}/`))
        .map((path) => path.slice(layer.length + 1).split('/'))
        .filter(({ length }) => length > 1)
        .map(([folder]) => folder),
    );
    const strange = [...folders].filter((folder = '') => ![...nouns, ...others].includes(folder));
    expect(
      strange.map(
        (folder) => `${layer}/${folder}/: use a noun of ARCHITECTURE.md, or add one there`,
      ),
    ).toEqual([]);
  });

  test('of the product are in folders that ARCHITECTURE.md names', () => {
    const whole = new Set(['client', 'console']);
    const rooms = new Set(
      product.map((path) => {
        const [first = '', second] = posix.dirname(path).split('/');
        return second === undefined || whole.has(first) ? first : `${first}/${second}`;
      }),
    );
    const unnamed = [...rooms].filter(
      (room) =>
        !architecture.includes(`${posix.basename(room)}/\``) &&
        !architecture.includes(`\`${room}/`),
    );
    expect(
      unnamed.map((room) => `${room}/: use a folder of ARCHITECTURE.md, or name it there`),
    ).toEqual([]);
  });

  test('of the product that start threads refer to them with moduleUrl, which also finds them in the image', () => {
    expect(placesOf(product, /new URL\(\s*[^)]*import\.meta\.(?:url|filename)/g)).toEqual([]);
  });
});

// Rules for which the linter has no rule.
describe('sources', () => {
  // For the compiler, every `list[index]` can be undefined; code that has just computed the index writes
  // `list[index]!`. The maps and stacks of the graph engine are total over the nodes of a compiled graph.
  test('assert with ! only for indexed access: otherwise test for a missing value', () => {
    const files = product.filter((path) => !/^shared\/(?:graph|values)\/|\.test\.ts$/.test(path));
    expect(placesOf(files, /[\w)]!(?:[.,;)[]|$)/gm)).toEqual([]);
  });

  test('of tests do not fail because the machine is slow: they compare growth, order or counts', () => {
    const files = paths.filter((path) => /^test\/(?!bench|cluster|fuzz|image|storm)/.test(path));
    const timed =
      /expect\([^;]*?(?:(?:performance|Date)\.now|[cC]puUsage)\([^;]*?\)\s*\.(?:not\.)?toBeLess/g;
    expect(placesOf(files, timed)).toEqual([]);
  });
});
