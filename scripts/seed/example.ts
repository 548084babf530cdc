import type { EventTriggerInput } from '#shared/contract/events/trigger.ts';
import type { RunStatus } from '#shared/contract/runs/run.ts';
import type { JsonObject } from '#shared/json.ts';
import type { BuiltInTemplate } from '#shared/templates/template.ts';

/** A workflow of a new installation, and the runs that show what it does. */
export interface Example extends Pick<
  BuiltInTemplate,
  // Examples are looked up by name, so it must stay the same across releases.
  'name' | 'description' | 'graph' | 'checks' | 'limits'
> {
  /** What starts its runs, besides people. */
  trigger?: Partial<EventTriggerInput> & Pick<EventTriggerInput, 'event'>;
  /** Under limits, they start in this order. */
  runs: ExampleRun[];
}

export interface ExampleRun {
  /** Idempotency-Key: the same on every start, so that they all share one run. Change it whenever the input changes. */
  key: string;
  input: JsonObject;
  /** The status in which it settles. `running`: a step of it waits. `pending`: it waits for a slot of its workflow. */
  ends: RunStatus;
}
