import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';

interface ChainInput {
  activities: number;
  activities_task_queue: string;
}

/** What any engine on Temporal costs at least: so many activities that do nothing, one after the other. */
export async function bareChain(input: ChainInput): Promise<number[]> {
  const { nothing } = proxyActivities<BareActivities>({
    taskQueue: input.activities_task_queue,
    startToCloseTimeout: '75s',
  });
  const startedAt: number[] = [];
  for (let done = 0; done < input.activities; done += 1) startedAt.push(await nothing());
  return startedAt;
}
