import { pause } from './request.ts';
import type { AgentDeltaFrame, StreamFrame } from './types.ts';

export interface FollowedStep {
  /** The node, or for a tool call of an agent its own key. */
  key: string;
  node_id: string;
  label: string;
  status: 'running' | 'paused' | 'success' | 'failed';
  error: string | undefined;
}

/** What the frames of a run say about it so far. */
export interface FollowedRun {
  status: 'connecting' | 'running' | 'paused' | 'success' | 'failed';
  /** In the order in which they started. */
  steps: readonly FollowedStep[];
  /** The latest 1,000 frames, oldest first. */
  frames: readonly StreamFrame[];
  /** Why the stream cannot continue. */
  error: Error | undefined;
}

const MAX_FRAMES = 1_000;
/** How often another token is tried without a frame in between. */
const MAX_TOKENS = 3;
const RETRY_MS = 500;

export const followed: FollowedRun = {
  status: 'connecting',
  steps: [],
  frames: [],
  error: undefined,
};

/** The run after one more frame. */
export function withFrame(run: FollowedRun, frame: StreamFrame | AgentDeltaFrame): FollowedRun {
  if (frame.type === 'agent_delta') return run;
  return {
    status: statusAfter(run.status, frame),
    steps: stepsAfter(run.steps, frame),
    frames: [...run.frames.slice(1 - MAX_FRAMES), frame],
    error: undefined,
  };
}

function statusAfter(before: FollowedRun['status'], { type }: StreamFrame): FollowedRun['status'] {
  if (type === 'run_completed') return 'success';
  if (type === 'run_failed') return 'failed';
  if (type === 'run_paused') return 'paused';
  if (type === 'run_evaluated') return before;
  return 'running';
}

function stepsAfter(steps: readonly FollowedStep[], frame: StreamFrame): readonly FollowedStep[] {
  if (!('node_id' in frame)) return steps;
  const key = frame.step_key ?? frame.node_id;
  const change = changeBy(frame);
  if (change === undefined) return steps;
  const known = steps.find((step) => step.key === key);
  const start = { key, node_id: frame.node_id, label: frame.node_id, error: undefined };
  const next: FollowedStep = { ...(known ?? start), ...change };
  return known === undefined
    ? [...steps, next]
    : steps.map((step) => (step === known ? next : step));
}

function changeBy(
  frame: StreamFrame,
): (Pick<FollowedStep, 'status'> & Partial<FollowedStep>) | undefined {
  if (frame.type === 'step_started') {
    return { status: 'running', label: frame.label, error: undefined };
  }
  if (frame.type === 'step_completed') return { status: 'success', error: undefined };
  if (frame.type === 'step_failed') return { status: 'failed', error: frame.error };
  if (frame.type === 'run_paused') return { status: 'paused' };
  return undefined;
}

/** Whether another token may help after this error. Waits before a repeated try. */
export async function nextTry(
  error: unknown,
  tries: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { status, code } = error as { status?: number; code?: number };
  if ((status !== 401 && code !== 4401) || tries >= MAX_TOKENS) return false;
  await pause(tries * RETRY_MS, signal);
  return true;
}
