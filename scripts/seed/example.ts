import type { RunStatus } from '#shared/contract/runs/run.ts';
import type { JsonObject } from '#shared/json.ts';
import type { BuiltInTemplate } from '#shared/templates/template.ts';

/** A workflow of a new installation, and the runs that show what it does. */
export interface Example extends Pick<
  BuiltInTemplate,
  // Examples are looked up by name, so it must stay the same across releases.
  'name' | 'description' | 'graph' | 'checks'
> {
  runs: ExampleRun[];
}

export interface ExampleRun {
  /** Idempotency-Key: the same on every start, so that they all share one run. Change it whenever the input changes. */
  key: string;
  input: JsonObject;
  /** The status in which it settles. */
  ends: Extract<RunStatus, 'success' | 'failed' | 'paused'>;
}
