import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';

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
];
const supportFolders = ['scripts', 'bench', 'test', 'docker'];

interface Import {
  /** The path from the root for a local file, otherwise the name of the package or `node:` module. */
  target: string;
  /** Erased by the compiler: a whole `import type` or `export type`. */
  typeOnly: boolean;
}

interface Source {
  path: string;
  imports: Import[];
  /** String literals that end like a path of a source file: how a child process or a bundler refers to one. */
  mentions: string[];
  readsEnvironment: boolean;
  /** The names it imports. */
  names: Set<string>;
}

const sources = new Map(
  [...productFolders, ...supportFolders].flatMap(listSources).map((path) => [path, parse(path)]),
);
const product = [...sources.values()].filter(({ path }) => folderOf(path, productFolders));

function folderOf(path: string, folders: string[]): string | undefined {
  return folders.find((folder) => path.startsWith(`${folder}/`));
}

function listSources(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => posix.join(folder, path.replaceAll('\\', '/')))
    .filter((path) => /\.(?:ts|tsx|js|mjs)$/.test(path) && !/\.d\.m?ts$/.test(path))
    .filter((path) => !/^(?:bench\/results|console\/dist)\/|\/node_modules\//.test(path));
}

function parse(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const source: Source = {
    path,
    imports: [],
    mentions: [],
    readsEnvironment: false,
    names: new Set(),
  };
  const add = (specifier: ts.Expression | undefined, typeOnly: boolean): void => {
    if (specifier && ts.isStringLiteralLike(specifier)) {
      source.imports.push({ target: resolve(path, specifier.text), typeOnly });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
      const bindings = node.importClause?.namedBindings;
      if (bindings && ts.isNamedImports(bindings)) {
        for (const { propertyName, name } of bindings.elements) {
          source.names.add((propertyName ?? name).text);
        }
      }
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    } else if (ts.isImportTypeNode(node)) {
      if (ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    } else if (ts.isStringLiteralLike(node) && /\.(?:tsx?|mjs|js)$/.test(node.text)) {
      source.mentions.push(node.text);
    } else if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
      source.readsEnvironment ||=
        /^(?:globalThis\??\.)?process\??(?:\.env|\[['"`]env['"`]\])$/.test(node.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  source.readsEnvironment ||= source.imports.some(({ target }) => target === 'node:process');
  return source;
}

function resolve(from: string, specifier: string): string {
  // The query after a question mark is for the bundler.
  const [path = ''] = specifier.split('?');
  if (path.startsWith('#')) return path.slice(1);
  return path.startsWith('.') ? posix.normalize(posix.join(posix.dirname(from), path)) : path;
}

/** Every file and package that the given files load at run time, each with one import chain to it. */
function closure(files: Source[], isEnd = (_target: string): boolean => false) {
  const chains = new Map<string, string[]>(files.map(({ path }) => [path, [path]]));
  for (const [target, chain] of chains) {
    if (isEnd(target)) continue;
    for (const next of sources.get(target)?.imports ?? []) {
      if (!next.typeOnly && !chains.has(next.target)) {
        chains.set(next.target, [...chain, next.target]);
      }
    }
  }
  return chains;
}

/** The import chains that end at a forbidden target, written as `a -> b -> c`. */
const trespasses = (files: Source[], forbidden: (target: string) => boolean): string[] =>
  [...closure(files, forbidden)]
    .filter(([target]) => forbidden(target))
    .map(([, chain]) => chain.join(' -> '));

const isPackage = (target: string): boolean =>
  folderOf(target, [...productFolders, ...supportFolders]) === undefined;
const inPureHalf = (path: string): boolean =>
  /^shared\/(?!(?:crypto|db|platform|operations|seed)\/)/.test(path);
const below = (folder: string) => product.filter(({ path }) => path.startsWith(`${folder}/`));

describe('import rules', () => {
  const allowed: Record<string, { imports: string[]; types?: string[] }> = {
    workflows: { imports: ['shared'], types: ['activities'] },
    activities: { imports: ['shared'] },
    api: { imports: ['shared'] },
    worker: { imports: ['shared', 'activities'] },
    shared: { imports: [] },
    client: { imports: [] },
    cli: { imports: ['client', 'shared'] },
    console: { imports: ['client', 'shared'] },
  };

  test.each(Object.entries(allowed))('%s imports only from the folders below it', (folder, law) => {
    const breaches = below(folder).flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => sources.has(target) || folderOf(target, productFolders))
        .filter(({ target, typeOnly }) => {
          const legal = [folder, ...law.imports, ...(typeOnly ? (law.types ?? []) : [])];
          return !folderOf(target, legal);
        })
        .map(({ target }) => `${path} -> ${target}`),
    );
    expect(breaches).toEqual([]);
  });

  test('every relative import names a file that exists', () => {
    const missing = [...sources.values()].flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => folderOf(target, [...productFolders, ...supportFolders]))
        .filter(({ target }) => !existsSync(join(root, target)))
        .map(({ target }) => `${path} -> ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test('the pure half of shared imports neither Node nor Temporal, also indirectly', () => {
    const pure = product.filter(({ path }) => inPureHalf(path));
    const forbidden = (target: string): boolean =>
      isPackage(target) ? !['zod', 're2js'].includes(target) : !inPureHalf(target);
    expect(pure.length).toBeGreaterThan(0);
    expect(trespasses(pure, forbidden)).toEqual([]);
  });

  test('the graph engine does not import zod', () => {
    const forbidden = (target: string): boolean => isPackage(target) && target !== 're2js';
    expect(trespasses(below('shared/graph'), forbidden)).toEqual([]);
  });

  test('the workflow bundle contains only the pure half and the workflow SDK', () => {
    const packages = ['@temporalio/workflow', '@temporalio/common', 're2js'];
    const forbidden = (target: string): boolean =>
      isPackage(target)
        ? !packages.includes(target)
        : !inPureHalf(target) && !target.startsWith('workflows/');
    expect(trespasses(below('workflows'), forbidden)).toEqual([]);
  });

  test('the client imports only its own files and types', () => {
    const files = below('client');
    const targets = files.flatMap(({ imports }) => imports.map(({ target }) => target));
    expect(files.length).toBeGreaterThan(0);
    expect(targets.filter((target) => !target.startsWith('client/'))).toEqual([]);
  });

  test('the console imports the pure half of shared, but neither Node nor Temporal', () => {
    const forbidden = (target: string): boolean =>
      isPackage(target)
        ? /^(?:node:|@temporalio\/)/.test(target)
        : !inPureHalf(target) && folderOf(target, ['console', 'client']) === undefined;
    const pages = below('console').filter(({ path }) => path.startsWith('console/src/'));
    expect(pages.length).toBeGreaterThan(0);
    expect(trespasses(pages, forbidden)).toEqual([]);
  });

  test('the command imports the pure half of shared only', () => {
    const forbidden = (target: string): boolean =>
      !isPackage(target) &&
      !inPureHalf(target) &&
      folderOf(target, ['cli', 'client']) === undefined;
    expect(trespasses(below('cli'), forbidden)).toEqual([]);
  });

  test('product code does not import development dependencies', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const packageOf = (target: string): string =>
      target.split('/', target.startsWith('@') ? 2 : 1).join('/');
    const forbidden = (target: string): boolean =>
      isPackage(target) &&
      !target.startsWith('node:') &&
      !target.endsWith('package.json') &&
      !(packageOf(target) in dependencies);
    // The console is built before it is served, so its imports are not resolved at run time.
    const served = product.filter(({ path }) => !path.startsWith('console/'));
    expect(trespasses(served, forbidden)).toEqual([]);
  });

  test('SQL statements are only in shared/db', () => {
    const outside = product.filter(
      ({ path, names }) => names.has('sql') && !path.startsWith('shared/db/'),
    );
    expect(outside.map(({ path }) => path)).toEqual([]);
  });

  test('no runtime import cycles', () => {
    const circles = product.filter(({ path, imports }) => {
      const direct = imports
        .filter(({ typeOnly, target }) => !typeOnly && sources.has(target))
        .map(({ target }) => sources.get(target)!);
      return closure(direct).has(path);
    });
    expect(circles.map(({ path }) => path)).toEqual([]);
  });
});

describe('environment variables', () => {
  test('are read in one module of the service and one of the command', () => {
    const readers = product.filter(({ readsEnvironment }) => readsEnvironment);
    expect(readers.map(({ path }) => path)).toEqual([
      'shared/platform/config.ts',
      'cli/environment.ts',
    ]);
  });
});

/** Maximum number of source files in one folder. */
const MAX_SIBLINGS = 20;

/** Folders above the limit, and why they are not divided. */
const largeFolders: Record<string, string> = {
  'api/routes/ops': 'one file per resource of the API',
  'shared/contract': 'one file per resource of the API',
  'console/src/queries': 'one file per resource of the API',
  client: 'one file per resource of the API, without dependencies',
  'cli/commands': 'one file per noun of the command',
  'scripts/stack': 'one file per part of the embedded stack',
  'test/console': 'one file per page',
  'test/db': 'one file per SQL module',
  'test/security': 'one file per family of attacks',
  'test/engine': 'one file per capability of a run',
  'test/fuzz': 'what the fuzzer is made of',
  'test/support': 'fixtures of all tests, one file each',
};

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
      'migrate',
      'month',
      'pool',
      'preconditions',
      'stored-json',
    ],
    belongs:
      'statements stand by noun: runs/, money/, people/, workflows/, audit/, data/, deliveries/',
  },
  'shared/platform': {
    beside: [
      'config',
      'logger',
      'mailer',
      'module-url',
      'payload-store',
      'temporal',
      'empty-variables',
    ],
    belongs:
      'outgoing requests in egress/, calls to tools and models in calls/, work threads in threads/, passwords and ' +
      'sessions in secrets/',
  },
  'console/src/pages': { beside: [], belongs: 'a page stands in the folder of its menu entry' },
};

describe('files and folders', () => {
  const paths = [...sources.keys()];
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

  test('are at most 20 to a folder, except in listed folders', () => {
    const sizes = new Map<string, number>();
    for (const path of paths) {
      const folder = posix.dirname(path);
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    }
    const large = [...sizes].filter(([, size]) => size > MAX_SIBLINGS).map(([folder]) => folder);
    expect(large.toSorted()).toEqual(Object.keys(largeFolders).toSorted());
    expect([...sizes.values()].filter((size) => size > 40)).toEqual([]);
  });

  test.each(Object.entries(families))('of %s are in the right subfolder', (folder, family) => {
    const strays = product
      .map(({ path }) => path)
      .filter((path) => posix.dirname(path) === folder)
      .filter((path) => !family.beside.includes(posix.basename(path).replace(/\.tsx?$/, '')))
      .map((path) => `${path}: ${family.belongs}`);
    expect(strays).toEqual([]);
  });

  test('of the product are in folders that ARCHITECTURE.md names', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const whole = new Set(['client', 'console']);
    const rooms = new Set(
      product.map(({ path }) => {
        const [first = '', second] = posix.dirname(path).split('/');
        return second === undefined || whole.has(first) ? first : `${first}/${second}`;
      }),
    );
    const unnamed = [...rooms].filter(
      (room) => !text.includes(`${posix.basename(room)}/\``) && !text.includes(`\`${room}/`),
    );
    expect(
      unnamed.map((room) => `${room}/: use a folder of ARCHITECTURE.md, or name it there`),
    ).toEqual([]);
  });

  test('of the product that start threads name them as moduleUrl finds them in the image', () => {
    const others = product.filter(({ path }) =>
      /new URL\(\s*[^)]*import\.meta\.(?:url|filename)/.test(
        readFileSync(join(root, path), 'utf8'),
      ),
    );
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test('of the product are all reachable from a process or command', () => {
    const scripts = paths.filter((path) => /^(?:scripts|bench|docker)\//.test(path));
    // The bundler loads those of the workflows by path.
    const bundled = ['workflows/index.ts', 'workflows/payload-converter.ts'];
    const processes = ['api/main.ts', 'worker/main.ts', ...bundled];
    const pages = ['console/src/main.tsx', 'console/vite.config.ts'];
    const entries = [...processes, 'client/index.ts', 'cli/main.ts', ...pages, ...scripts];
    const reached = reach(entries.filter((path) => sources.has(path)));
    const unreached = product.map(({ path }) => path).filter((path) => !reached.has(path));
    expect(unreached).toEqual([]);
  });

  test('of tests and scripts are all reachable from a test, configuration or command', () => {
    const configured = [
      'package.json',
      'jest.config.mjs',
      '.ci/run',
      'Dockerfile',
      'docker-compose.yml',
    ]
      .filter((path) => existsSync(join(root, path)))
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n');
    const support = paths.filter((path) => folderOf(path, supportFolders));
    const entries = support.filter(
      (path) => path.endsWith('.test.ts') || configured.includes(path),
    );
    const reached = reach([...entries, 'api/main.ts', 'worker/main.ts']);
    expect(support.filter((path) => !reached.has(path))).toEqual([]);
  });
});

/** Every file reachable from the given files, by import (also type-only) or by a path in a string. */
function reach(entries: string[]): Set<string> {
  const reached = new Set(entries);
  for (const path of reached) {
    const source = sources.get(path);
    for (const { target } of source?.imports ?? []) reached.add(target);
    for (const mention of source?.mentions ?? []) {
      const tail = `/${mention.replace(/^(?:\.{1,2}\/)+/, '')}`;
      for (const target of sources.keys()) if (`/${target}`.endsWith(tail)) reached.add(target);
    }
  }
  return reached;
}
