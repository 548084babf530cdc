import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { taskQueues } from '#shared/execution.ts';
import type { bareChain, barePosts } from './workflows.ts';

/** The baseline's client: starts a chain of no-op activities directly on the Temporal server. */
export interface Bare {
  /** Returns when the server has accepted the start; `done` resolves when the workflow has ended. */
  start(activities: number, lane?: BareLane): Promise<{ done: () => Promise<number[]> }>;
  /** Starts one and waits for it; resolves with the time at which each activity ran. */
  run(activities: number, lane?: BareLane): Promise<number[]>;
  /** Makes requests in activities, concurrently within a stage, and waits for the end. */
  post(stages: string[][]): Promise<void>;
}

/** Dispatched by the server, or local to the worker of the workflow task. */
type BareLane = 'activities' | 'local activities';

export function bareClient(client: Client, queues: ReturnType<typeof taskQueues>): Bare {
  const start: Bare['start'] = async (activities, lane = 'activities') => {
    const handle = await client.workflow.start<typeof bareChain>('bareChain', {
      workflowId: `bare_${randomUUID()}`,
      taskQueue: queues.control,
      args: [
        {
          activities,
          activities_task_queue: queues.overflow,
          local: lane === 'local activities',
        },
      ],
    });
    return { done: () => handle.result() };
  };
  return {
    start,
    run: async (activities, lane) => {
      const { done } = await start(activities, lane);
      return done();
    },
    post: (stages) =>
      client.workflow.execute<typeof barePosts>('barePosts', {
        workflowId: `bare_${randomUUID()}`,
        taskQueue: queues.control,
        args: [{ activities_task_queue: queues.overflow, stages }],
      }),
  };
}
