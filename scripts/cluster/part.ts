import { setTimeout as sleep } from 'node:timers/promises';
import type { Child, Exit } from '#scripts/stack/children.ts';

type Signals = Parameters<Child['stop']>[0];

/** A process that is restarted whenever it ends, like a container with `restart: unless-stopped`. */
export interface Part {
  name: string;
  /** Resolves when the process has been ready for the first time. */
  firstUp: Promise<void>;
  up(): boolean;
  /** The process that is running or ran last; undefined before the first one. */
  child(): Child | undefined;
  /** Stops the process with these signals. Resolves when the next one is ready; rejects after the timeout. */
  restart(signals: Signals, timeoutMs: number): Promise<void>;
  /** Stops the process permanently. */
  end(signals: Signals): Promise<void>;
  /** Ends the process permanently, without waiting. */
  killNow(): void;
}

export interface PartOptions {
  name: string;
  /** Starts the process and resolves when it is ready. Calls `onSpawn` as soon as the process exists. */
  start(onSpawn: (child: Child) => void): Promise<unknown>;
  /** How long to wait before the next start, in ms. */
  pauseMs(): number;
  onSpawn?(child: Child): void;
  onReady?(): void;
  onNotReady?(error: unknown): void;
  /** Not called after `end`. */
  onExit?(exit: Exit, wasReady: boolean): void;
}

/** The state of the process that is running or ran last. */
interface State {
  child: Child | undefined;
  ready: boolean;
  ended: AbortSignal;
}

/** Starts the process and keeps it running until `end`. */
export function keepRunning(options: PartOptions): Part {
  const ending = new AbortController();
  const state: State = { child: undefined, ready: false, ended: ending.signal };
  let resolveFirst: () => void = () => undefined;
  const firstUp = new Promise<void>((resolve) => {
    resolveFirst = resolve;
  });
  const over = (): boolean => state.ended.aborted;
  const run = async (): Promise<void> => {
    while (!over()) {
      await runOnce(options, state, resolveFirst);
      if (!over()) await sleep(options.pauseMs());
    }
  };
  const running = run();
  const up = (): boolean => state.ready && state.child?.exit === undefined;

  return {
    name: options.name,
    firstUp,
    up,
    child: () => state.child,
    restart: async (signals, timeoutMs) => {
      const deadline = Date.now() + timeoutMs;
      const earlier = state.child;
      await earlier?.stop(signals);
      while (state.child === earlier || !up()) {
        if (over() || Date.now() > deadline) {
          throw new Error(`${options.name} did not come back`);
        }
        await sleep(20);
      }
    },
    end: async (signals) => {
      ending.abort();
      await state.child?.stop(signals);
      await Promise.race([running, sleep(3_000)]);
    },
    killNow: () => {
      ending.abort();
      state.child?.kill();
    },
  };
}

/** Starts the process and resolves when it has ended. */
async function runOnce(options: PartOptions, state: State, onFirstUp: () => void): Promise<void> {
  state.ready = false;
  state.child = undefined;
  let started: Child | undefined;
  try {
    await options.start((spawned) => {
      started = spawned;
      state.child = spawned;
      options.onSpawn?.(spawned);
      if (state.ended.aborted) spawned.kill();
    });
    state.ready = true;
    options.onReady?.();
    onFirstUp();
  } catch (error) {
    if (!state.ended.aborted) options.onNotReady?.(error);
    started?.kill();
  }
  if (started === undefined) return;
  const exit = await started.exited;
  if (!state.ended.aborted) options.onExit?.(exit, state.ready);
}
