import { z } from 'zod';

const run_id = z.string();
const node_id = z.string();

/** What a run's stream says. Frames carry ids, not payloads: whoever listens reads the run anew. */
export const streamFrameSchema = z.discriminatedUnion('type', [
  z.object({ run_id, type: z.literal('step_started'), node_id, label: z.string() }),
  z.object({ run_id, type: z.literal('step_completed'), node_id }),
  z.object({ run_id, type: z.literal('step_failed'), node_id, error: z.string() }),
  z.object({ run_id, type: z.literal('run_paused'), node_id, prompt: z.string() }),
  z.object({ run_id, type: z.literal('run_completed') }),
  z.object({ run_id, type: z.literal('run_failed'), error: z.string() }),
  z.object({ run_id, type: z.literal('run_evaluated'), passed: z.int(), total: z.int() }),
]);

export type StreamFrame = z.infer<typeof streamFrameSchema>;
export type FrameType = StreamFrame['type'];

/** Close codes of the stream. */
export const closeCodes = {
  unauthenticated: 4401,
  forbidden: 4403,
  not_found: 4404,
  /** Too many sockets, or a reader that does not keep up. */
  too_many: 1013,
  going_away: 1001,
} as const;
