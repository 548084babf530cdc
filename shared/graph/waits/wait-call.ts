import type { WaitNode } from '#shared/contract/workflows/graph.ts';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** The name under which a `match` reads the event. */
export const EVENT = 'event';

/** An event that a step waits for, with the part of the run's state that its `match` reads. */
export interface AwaitedEvent {
  name: string;
  match?: string;
  state?: JsonObject;
}

/** What a step waits for, with its templates resolved. */
export type WaitsFor =
  | { for: 'time'; seconds: number }
  /** Milliseconds since 1970. */
  | { for: 'time'; until_ms: number }
  | { for: 'event'; events: AwaitedEvent[]; timeout_seconds?: number }
  | { for: 'callback'; timeout_seconds?: number };

/** A step that waits. */
export interface WaitPlace {
  run_id: string;
  step_key: string;
}

export interface WaitCall extends WaitPlace, PendingWrites {
  workspace_id: string;
  node_id: string;
  label: string;
  iteration: number[];
  waits_for: WaitsFor;
  /** When to send an alert, if it still waits. */
  remind_seconds?: number;
  /** See `seriesOf`. */
  series: string;
}

/** `gone`: the run no longer accepts the work. */
export type WaitReport =
  | { state: 'open' }
  | { state: 'came'; output: Json }
  | { state: 'late' }
  | { state: 'gone' };

/** The error of a step whose time ran out. */
export const lateError = (label: string, { timeout_seconds = 0 }: WaitNode): string =>
  `Nothing came within ${timeout_seconds} s for '${label}'`;
