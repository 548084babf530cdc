import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ModernFakeTimers } from '@jest/fake-timers';
import type NativeEnvironment from './environment.ts';

type Globals = Record<(typeof names)[number], unknown>;

const names = [
  'afterAll',
  'afterEach',
  'beforeAll',
  'beforeEach',
  'describe',
  'expect',
  'it',
  'jest',
  'test',
] as const;

/** The `@jest/globals` of the current test file. */
let globals: Globals;

const timeoutSymbol = Symbol.for('TEST_TIMEOUT_SYMBOL');
const accessor = 'durable-workflows.jest-globals';
const globalsUrl = 'jest:globals';

const globalScope = globalThis as unknown as Record<symbol, unknown>;

// Support modules are loaded once and serve many test files, so each access uses the globals of the current file.
globalScope[Symbol.for(accessor)] = (name: keyof Globals) =>
  new Proxy(() => undefined, {
    apply: (_target, self, args) => Reflect.apply(globals[name] as () => unknown, self, args),
    get: (_target, key) => Reflect.get(globals[name] as object, key) as unknown,
  });

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: globalsUrl, format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === globalsUrl
      ? {
          format: 'module',
          shortCircuit: true,
          source: [
            `const current = globalThis[Symbol.for('${accessor}')];`,
            ...names.map((name) => `export const ${name} = current('${name}');`),
          ].join('\n'),
        }
      : next(url, context),
});

const require = createRequire(import.meta.url);
let imports = 0;

/**
 * Loads test files with Node's own module loader instead of jest's. Jest evaluates every module again for every test
 * file, in a context without a code cache: that took half of a run's processor time and let a process grow to
 * gigabytes. Here a module is loaded once per process, so module state outlives a test file, as in the service.
 * Therefore jest cannot mock modules (`jest.mock`), which no test uses. Implements the part of jest-runtime's class
 * that jest-runner and jest-circus use.
 */
export default class NativeRuntime {
  private environment: NativeEnvironment;

  constructor(_config: unknown, environment: NativeEnvironment) {
    this.environment = environment;
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** Test files and set-up files. A process can load the same file again, with other globals. */
  async unstable_importModule(path: string): Promise<void> {
    imports += 1;
    await import(`${pathToFileURL(path).href}?${imports}`);
  }

  requireModule(path: string): unknown {
    return require(path) as unknown;
  }

  /** Jest's framework, which keeps the state of a test file in its module. */
  requireInternalModule(path: string): unknown {
    delete require.cache[path];
    Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    return require(path) as unknown;
  }

  setGlobalsForRuntime(framework: Omit<Globals, 'jest'>): void {
    const { moduleMocker, fakeTimersModern } = this.environment;
    const self = {
      fn: moduleMocker.fn.bind(moduleMocker),
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      restoreAllMocks: () => {
        moduleMocker.restoreAllMocks();
        return self;
      },
      useFakeTimers: (options?: Parameters<ModernFakeTimers['useFakeTimers']>[0]) => {
        fakeTimersModern.useFakeTimers(options);
        return self;
      },
      useRealTimers: () => {
        fakeTimersModern.useRealTimers();
        return self;
      },
      advanceTimersByTime: (ms: number) => fakeTimersModern.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms: number) => fakeTimersModern.advanceTimersByTimeAsync(ms),
      setTimeout: (ms: number) => {
        globalScope[timeoutSymbol] = ms;
        return self;
      },
    };
    globals = { ...framework, jest: self };
  }

  /** Nothing is transformed: Node strips the types and keeps every position. */
  getSourceMaps(): Map<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): undefined {
    return undefined;
  }

  enterTestCode(): void {}

  leaveTestCode(): void {}

  teardown(): void {
    Reflect.deleteProperty(globalThis, timeoutSymbol);
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (symbol.description === 'JEST_STATE_SYMBOL') Reflect.deleteProperty(globalThis, symbol);
    }
  }
}
