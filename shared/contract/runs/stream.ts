import { z } from 'zod';
import { dollars, nextCursor, timestamp, wholeNumber } from '#shared/contract/common.ts';
import type { AuditTarget } from '#shared/contract/audit/audit.ts';
import { usageSchema } from '#shared/contract/steps/step.ts';

/** Frames are small, so a page can have more rows than other lists. */
const MAX_EVENTS = 1_000;

const run_id = z.string();
const node_id = z.string();
const child_run_id = z.string().meta({ description: 'The run that the step has started' });
const step_key = z
  .string()
  .optional()
  .meta({ description: 'Only for a tool call of an agent, which has the node_id of the agent' });

/** The frames of a run's stream. They contain ids, not payloads: listeners read the run again. */
export const streamFrameSchema = z
  .discriminatedUnion('type', [
    z
      .object({ run_id, type: z.literal('step_started'), node_id, label: z.string(), step_key })
      .meta({ id: 'StepStartedFrame' }),
    z
      .object({ run_id, type: z.literal('step_completed'), node_id, step_key })
      .meta({ id: 'StepCompletedFrame' }),
    z
      .object({ run_id, type: z.literal('step_failed'), node_id, error: z.string(), step_key })
      .meta({ id: 'StepFailedFrame' }),
    z
      .object({ run_id, type: z.literal('run_paused'), node_id, prompt: z.string(), step_key })
      .meta({ id: 'RunPausedFrame' }),
    z.object({ run_id, type: z.literal('run_completed') }).meta({ id: 'RunCompletedFrame' }),
    z
      .object({ run_id, type: z.literal('run_failed'), error: z.string() })
      .meta({ id: 'RunFailedFrame' }),
    z
      .object({ run_id, type: z.literal('run_evaluated'), passed: z.int(), total: z.int() })
      .meta({ id: 'RunEvaluatedFrame' }),
    z
      .object({
        run_id,
        type: z.literal('agent_turn'),
        node_id,
        step_key: z.string().meta({ description: 'The step of the agent' }),
        turn: z.int(),
        calls: z.int().meta({ description: 'The number of tool calls in this turn' }),
        usage: usageSchema.optional(),
        cost_usd: dollars,
      })
      .meta({
        id: 'AgentTurnFrame',
        description: 'A model has answered a turn. Only for sockets with `deltas=true`',
      }),
    z.object({ run_id, type: z.literal('child_paused'), node_id, step_key, child_run_id }).meta({
      id: 'ChildPausedFrame',
      description:
        'The run that a step waits for has paused: the step is `paused_child`. Only for sockets with `deltas=true`',
    }),
    z.object({ run_id, type: z.literal('child_continued'), node_id, step_key, child_run_id }).meta({
      id: 'ChildContinuedFrame',
      description:
        'The run that a step waits for is no longer paused. Only for sockets with `deltas=true`',
    }),
  ])
  .meta({ id: 'StreamFrame' });

/** A frame as emitted: its number within the run, and the time it was written. */
export const runEventSchema = z
  .object({
    seq: z.int().meta({ description: 'Its number within the run; increases, possibly with gaps' }),
    at: timestamp,
    frame: streamFrameSchema,
  })
  .meta({ id: 'RunEvent' });

export const runEventListSchema = z
  .object({
    events: z.array(runEventSchema).meta({ description: 'Oldest first' }),
    next_cursor: nextCursor.meta({ description: '`after` of the next page; null on the last' }),
  })
  .meta({ id: 'RunEventList' });

const MAX_TOKEN_SECONDS = 3_600;

export const streamTokenBody = z
  .strictObject({
    expires_in: z
      .int()
      .min(1)
      .max(MAX_TOKEN_SECONDS)
      .default(300)
      .meta({ description: 'Seconds until the token expires' }),
  })
  .nullish()
  .meta({ examples: [{ expires_in: 300 }] });

export const streamTokenSchema = z
  .object({ run_id, token: z.string(), expires_at: timestamp })
  .meta({ id: 'StreamToken', description: 'Reads the stream of this run, and nothing else' });

export const runEventQuery = z.strictObject({
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER)
    .prefault('0')
    .meta({ description: 'Events with a greater `seq` only' }),
  limit: wholeNumber(1, MAX_EVENTS).prefault('200').meta({ description: 'Events per page' }),
});

/**
 * A piece of a model's answer as it arrives, only sent with `deltas=true`. A socket that opens late first gets the text so
 * far. Best effort: the text is not kept when the answer has ended.
 */
export interface AgentDeltaFrame {
  type: 'agent_delta';
  run_id: string;
  /** The agent's step. */
  step_key: string;
  /** 1 for an agent without tools. */
  turn: number;
  text: string;
  /**
   * The length of the answer before this piece, in UTF-16 code units: 0 when the answer starts, or starts again because an
   * attempt or a model has failed. Absent from workers of 1.0.0.
   */
  offset?: number | undefined;
}

export type RunEvent = z.infer<typeof runEventSchema>;
export type StreamFrame = z.infer<typeof streamFrameSchema>;

/**
 * The stream of a workspace says what has changed, but not how: readers fetch again what they show. Topics are the
 * targets of audit entries, `step` for steps and statuses of runs, `job` for background jobs, and `record` for records
 * of the data API.
 */
export interface WorkspaceFrame {
  type: 'changed';
  changed: WorkspaceTopic[];
}
export type WorkspaceTopic = AuditTarget | 'step' | 'job' | 'record';

/** Close codes of the stream. */
export const closeCodes = {
  unauthenticated: 4401,
  forbidden: 4403,
  not_found: 4404,
  /** There are too many sockets, or the reader is too slow. */
  too_many: 1013,
  going_away: 1001,
} as const;
