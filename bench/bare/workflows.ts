import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';

interface ChainInput {
  activities: number;
  activities_task_queue: string;
}

/** The minimum cost of any engine on Temporal: a sequence of no-op activities. */
export async function bareChain(input: ChainInput): Promise<number[]> {
  const { nothing } = proxyActivities<BareActivities>({
    taskQueue: input.activities_task_queue,
    startToCloseTimeout: '75s',
  });
  const startedAt: number[] = [];
  for (let done = 0; done < input.activities; done += 1) startedAt.push(await nothing());
  return startedAt;
}
