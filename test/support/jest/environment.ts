import { setFlagsFromString } from 'node:v8';
import { type Context, createContext, runInNewContext } from 'node:vm';
import type { EnvironmentContext, JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { patiently } from '#test/support/patience.ts';
import { addReports } from './failure-reports.ts';

/** Of jest-circus: a test or a hook, whose own time limit is read after its start was announced. */
interface Limited {
  timeout?: number | undefined | null;
}
interface TestEvent {
  name: string;
  error?: unknown;
  test?: Limited;
  hook?: Limited;
}

/**
 * Node's own. Jest's reads every file of a stack in search of a source map; here Node strips the types of a file, and
 * its lines stay where they are.
 */
const { prepareStackTrace } = Error;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Below the limit in jest.config.mjs, at which jest replaces a process after a file. */
const GARBAGE_BYTES = 300_000_000;

/**
 * Test files run in the process itself, not in a separate context: see `NativeRuntime`. Changes that a file or jest
 * makes to the process are undone after the file.
 */
export default class NativeEnvironment implements JestEnvironment {
  global: JestEnvironment['global'] = globalThis as JestEnvironment['global'];
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern: ModernFakeTimers;
  private extended = new WeakSet<Limited>();
  private before = { console: globalThis.console, exit: process.exit, env: { ...process.env } };

  constructor({ projectConfig }: JestEnvironmentConfig, _context: EnvironmentContext) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup(): Promise<void> {
    Error.prepareStackTrace = prepareStackTrace;
  }

  /** Jest waits for it, so a report sees the state in which the test failed. */
  async handleTestEvent(event: TestEvent): Promise<void> {
    if (event.name === 'test_fn_start') this.extend(event.test);
    if (event.name === 'hook_start') this.extend(event.hook);
    if (event.name === 'test_fn_failure') await addReports(event.error);
  }

  /** Once, also for a hook that runs before each test. */
  private extend(limited: Limited | undefined): void {
    if (!limited?.timeout || this.extended.has(limited)) return;
    this.extended.add(limited);
    limited.timeout = patiently(limited.timeout);
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    // Jest would count it, and a new process takes seconds to load the modules again.
    if (process.memoryUsage().heapUsed > GARBAGE_BYTES) collectGarbage();
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.before.console;
    process.exit = this.before.exit;
    for (const name of Object.keys(process.env)) {
      if (!(name in this.before.env)) Reflect.deleteProperty(process.env, name);
    }
    Object.assign(process.env, this.before.env);
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  /** Jest requires one, but runs nothing in it. */
  getVmContext(): Context {
    return createContext();
  }
}
