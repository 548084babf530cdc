import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';

interface ChainInput {
  activities: number;
  activities_task_queue: string;
  local: boolean;
}

/** The minimum cost of any engine on Temporal: a sequence of no-op activities, dispatched by the server or local. */
export async function bareChain(input: ChainInput): Promise<number[]> {
  const startToCloseTimeout = '75s';
  const { nothing } = input.local
    ? proxyLocalActivities<BareActivities>({ startToCloseTimeout })
    : proxyActivities<BareActivities>({
        taskQueue: input.activities_task_queue,
        startToCloseTimeout,
      });
  const startedAt: number[] = [];
  for (let done = 0; done < input.activities; done += 1) startedAt.push(await nothing());
  return startedAt;
}

interface PostInput {
  activities_task_queue: string;
  /** URLs, requested concurrently within a stage. */
  stages: string[][];
}

/** Requests in activities, stage after stage. */
export async function barePosts({ activities_task_queue, stages }: PostInput): Promise<void> {
  const { post } = proxyActivities<BareActivities>({
    taskQueue: activities_task_queue,
    startToCloseTimeout: '75s',
  });
  for (const stage of stages) await Promise.all(stage.map(post));
}
