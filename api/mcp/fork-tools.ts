import { z } from 'zod';
import { forkFields, forkSchema, rerunFields, startsAgain } from '#shared/contract/forks/fork.ts';
import { idempotencyKeySchema } from '#shared/contract/runs/run.ts';
import { executesGraph, next, runId, runStarted } from './run-tools.ts';
import { defineTool, type McpTool } from './tool.ts';

const idempotency_key = idempotencyKeySchema.optional();

export const forkTools: readonly McpTool[] = [
  defineTool({
    name: 'rerun_run',
    title: 'Run again',
    description:
      'Starts a new run with the input and the version of another one, or with those that are given. Everything is ' +
      `executed again. ${next}`,
    capability: 'run_workflows',
    annotations: executesGraph,
    input: startsAgain(z.strictObject({ run_id: runId, ...rerunFields, idempotency_key })),
    output: runStarted.extend({ not_reused: forkSchema.shape.not_reused }),
    handle: async ({ actions, actor }, { run_id, idempotency_key: idempotencyKey, ...given }) => {
      const request = { actor, runId: run_id, trigger: 'mcp', idempotencyKey, ...given } as const;
      const { run, replayed, notReused } = await actions.rerun(request);
      return { ...run, replayed, not_reused: notReused };
    },
  }),
  defineTool({
    name: 'fork_run',
    title: 'Run again from a step',
    description:
      'Starts a new run that reuses every finished step of another run that does not depend on from_step, and executes ' +
      'that step and what follows it. Use it to try another input, state, version or the draft without repeating ' +
      `what came before. not_reused names the steps before from_step that are executed again. ${next}`,
    capability: 'run_workflows',
    annotations: executesGraph,
    input: startsAgain(z.strictObject({ run_id: runId, ...forkFields, idempotency_key })),
    output: runStarted.extend({ not_reused: forkSchema.shape.not_reused }),
    handle: async (
      { actions, actor },
      { run_id, from_step: fromStep, idempotency_key: idempotencyKey, ...given },
    ) => {
      const from = { runId: run_id, fromStep };
      const { run, replayed, notReused } = await actions.fork({
        actor,
        trigger: 'mcp',
        idempotencyKey,
        ...from,
        ...given,
      });
      return { ...run, replayed, not_reused: notReused };
    },
  }),
];
