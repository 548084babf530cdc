import type { Actor } from '../../actor.ts';
import type { Trigger } from '../../contract/run.ts';
import type { JsonObject } from '../../json.ts';
import type { SignatureMark } from '../workflows/webhooks.ts';

export interface RunRequest {
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>;
  workflowId: string;
  trigger: Trigger;
  input: JsonObject;
  /** At most 255 characters; the same key with the same input returns the same run while the key is kept. */
  idempotencyKey?: string;
  /** Instead of a key: the event that starts the run. It starts no second run within this window. */
  event?: { id: string; windowSeconds: number };
  /** For a signed event: the same signature starts no second run, even with another event id. */
  signature?: SignatureMark;
  /** Defaults to `run` on the workflow. Other triggers name their own action (`schedule_run`, `webhook_run`). */
  audit?: { action: string; details: JsonObject };
  /** The step that starts the run: of an open run that accepts the work of this execution. */
  parent?: { runId: string; stepKey: string; execution: string; attempt: number };
  /** The version to run; by default the current one. */
  version?: number;
  /** The schedule that starts the run; `dueAt` is null when a member started it manually. */
  schedule?: { id: string; dueAt: string | null };
}
