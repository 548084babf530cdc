import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import quickjs from '@jitl/quickjs-wasmfile-release-sync';
import { messageOf } from '#shared/errors.ts';
import { type CodeLanguage, type CodeProblem, javascriptOf } from './source.ts';
import { PRELUDE } from './prelude.ts';

/** Code of a tenant, and what it is called with. */
export interface CodeJob {
  source: string;
  language: CodeLanguage;
  /** The value that its function gets, as JSON. */
  argument: string;
  /** Where `Date` stands, in ms since 1970. */
  clock: number;
  /** 64 hexadecimal digits, for `Math.random`. */
  seed: string;
}

/** The JSON of what the function returned, or why there is none. */
export type CodeResult = { output: string } | CodeFailure;

export interface CodeFailure {
  problem: CodeProblem;
  /** Whether it needed more than its memory. */
  outOfMemory?: boolean;
}

/** What a sandbox can hold: its memory, with the source and both values in it, and its stack. */
const MEMORY_BYTES = 64 * 1024 * 1024;
/** With more, deep recursion in the sandbox overruns the stack of the thread. */
const STACK_BYTES = 128 * 1024;
const PAGE_BYTES = 64 * 1024;
/** What the interpreter itself needs. */
const OWN_BYTES = 8 * 1024 * 1024;
const FIRST_PAGES = 256;

/** The name of the source in stacks. */
const FILE = 'code';

// The types of this package are those of its other format.
const variant = quickjs as unknown as QuickJSSyncVariant;

/** Node's types do not have its values. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => WebAssembly.Module;
  Memory: new (pages: { initial: number; maximum: number }) => object;
};

const compiled = new WebAssembly.Module(
  readFileSync(fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))),
);

/**
 * Stops the clock of this thread, in UTC. The sandbox asks the thread for the time, so nothing in it can find out the real
 * one.
 */
function stopClock(clock: number): void {
  Date.now = () => clock;
  Date.prototype.getTimezoneOffset = () => 0;
}

/**
 * Runs the code in a WebAssembly module of its own, which nothing reuses. Only texts pass its border: the source, the
 * argument and the result as JSON, and what it logs. Throws if the module fails; then the thread must not be used again.
 */
export async function runCode(
  { source, language, argument, clock, seed }: CodeJob,
  log: (text: string) => void,
): Promise<CodeResult> {
  const script = javascriptOf(source, language);
  if (typeof script !== 'string') {
    return { problem: { ...script, message: `SyntaxError: ${script.message}` } };
  }
  stopClock(clock);
  const wasmMemory = new WebAssembly.Memory({
    initial: FIRST_PAGES,
    maximum: (MEMORY_BYTES + OWN_BYTES) / PAGE_BYTES,
  });
  const module = await newQuickJSWASMModuleFromVariant(
    newVariant<QuickJSSyncVariant>(variant, { wasmModule: compiled, wasmMemory }),
  );
  const runtime = module.newRuntime({
    memoryLimitBytes: MEMORY_BYTES,
    maxStackSizeBytes: STACK_BYTES,
    moduleLoader: (name) => ({ error: new Error(`It cannot import '${name}'`) }),
  });
  // Neither is disposed: both go with the module, and disposing what a tenant has left behind can fail.
  return new Sandbox(runtime.newContext(), log, seed).run(script, argument);
}

class Sandbox {
  private readonly context: QuickJSContext;
  private readonly describe: QuickJSHandle;
  private readonly call: QuickJSHandle;

  constructor(context: QuickJSContext, log: (text: string) => void, seed: string) {
    this.context = context;
    const write = context.newFunction('write', (text) => log(context.getString(text)));
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, 'prelude'));
    const helpers = context.unwrapResult(
      context.callFunction(prelude, context.undefined, write, context.newString(seed)),
    );
    this.describe = context.getProp(helpers, 'describe');
    this.call = context.getProp(helpers, 'call');
  }

  run(script: string, argument: string): CodeResult {
    const { context } = this;
    const loaded = context.evalCode(script, FILE, { type: 'module' });
    if (loaded.error !== undefined) return this.failed(loaded.error);
    const exported = this.settle(loaded.value);
    if ('problem' in exported) return exported;
    const called = context.callFunction(
      this.call,
      context.undefined,
      context.getProp(exported.value, 'default'),
      context.newString(argument),
    );
    if (called.error !== undefined) return this.failed(called.error);
    const result = this.settle(called.value);
    return 'problem' in result ? result : { output: context.getString(result.value) };
  }

  /** The value of a promise, when the queue of microtasks is empty; other values as they are. */
  private settle(handle: QuickJSHandle): { value: QuickJSHandle } | CodeFailure {
    const { context } = this;
    const ended = context.runtime.executePendingJobs();
    if (ended.error !== undefined) return this.failed(ended.error);
    const state = context.getPromiseState(handle);
    if (state.type === 'fulfilled') return { value: state.value };
    if (state.type === 'rejected') return this.failed(state.error);
    return {
      problem: {
        message: 'It returned a promise that never settles: it has no timers and no network',
      },
    };
  }

  private failed(error: QuickJSHandle): CodeFailure {
    const { context } = this;
    const described = context.callFunction(this.describe, context.undefined, error);
    if (described.error !== undefined) {
      return { problem: { message: 'It threw an error without a message' } };
    }
    return readProblem(context.getString(described.value));
  }
}

/** `text`: the message, the stack, and whether its memory was used up, as JSON; see the prelude. */
function readProblem(text: string): CodeFailure {
  const [message, stack, outOfMemory] = JSON.parse(text) as [string, string, boolean];
  const place = /\bcode:(\d{1,9}):(\d{1,9})\b/.exec(stack);
  if (place === null) return { problem: { message }, outOfMemory };
  return { problem: { message, line: Number(place[1]), column: Number(place[2]) }, outOfMemory };
}

/** Why the module itself failed. */
export const failureOf = (error: unknown): CodeFailure =>
  error instanceof RangeError
    ? { problem: { message: 'It recursed too deeply' } }
    : {
        problem: { message: `It exceeded what its sandbox can hold: ${messageOf(error)}` },
        outOfMemory: true,
      };
