import type { RunStatus } from '../../shared/contract/run.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { BuiltInTemplate } from '../../shared/templates/template.ts';

/** A workflow that a new installation starts with, and the runs that show what it does. */
export interface Example extends Pick<
  BuiltInTemplate,
  // Examples are looked up by their name, so it has to stay the same from release to release.
  'name' | 'description' | 'graph' | 'checks'
> {
  runs: ExampleRun[];
}

export interface ExampleRun {
  /** Idempotency-Key: the same on every start, so that one run comes of many. Goes with the input: change both. */
  key: string;
  input: JsonObject;
  /** Where it comes to rest. */
  ends: Extract<RunStatus, 'success' | 'failed' | 'paused'>;
}
