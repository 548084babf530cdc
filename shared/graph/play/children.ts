import type { WorkflowNode } from '#shared/contract/workflows/graph.ts';
import { messageOf } from '#shared/errors.ts';
import { childFailed, refusedInput } from '#shared/graph/failure-texts.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import { retryDelayMs } from '#shared/graph/kinds.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { NodeRetry } from '#shared/contract/workflows/node-common.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { MAX_RUN_DEPTH, tooDeep } from '#shared/limits.ts';
import { asTool } from '#shared/tools.ts';
import { type Answer, answerOf } from './answers.ts';
import { startWork, type Work } from './attempts.ts';
import { permitted } from './gates.ts';
import type { Mock } from './mock.ts';
import { PlayError } from './play-error.ts';
import { createPlaying, failStep, keyOf, type PlayedWorkflow, type Playing } from './playing.ts';
import { resumeRun } from './rest.ts';
import type { StepEntry } from './step-book.ts';
import { endsOf, mockOfNode, namedOf, placeOf } from './steps.ts';

/** Starts the step of a sub-workflow: the workflow that the test gives, or the mock of the node or the workflow. */
export function startChild(run: Playing, step: ReadyNode, node: WorkflowNode): void {
  const { step_key: key, iteration } = step;
  const entry: StepEntry = {
    ...{ step_key: key, node_id: node.id, label: nodeLabel(node), kind: node.kind, iteration },
  };
  let input: JsonObject;
  try {
    input = renderValue(node.input, run.scheduler.state(key)) as JsonObject;
  } catch (error) {
    run.book.begin(entry, 'running');
    failStep(run, key, { message: messageOf(error), kind: 'node', attempts: 1 });
    return;
  }
  const args = permitted(run, step, { args: input, tool: asTool(node.workflow), entry });
  if (args === undefined) return;
  const ends = endsOf(run, key);
  const own = mockOfNode(run, node.id);
  if (own === undefined && run.world.workflows.has(node.workflow)) {
    runChild(run, { entry, name: node.workflow, input: args, retry: node.retry, ...ends });
    return;
  }
  const [mock, named] =
    own === undefined
      ? mockOfWorkflow(run, node.id, node.workflow)
      : ([own, namedOf(run, node.id)] as const);
  startWork(run, {
    ...{ entry, input: args, retry: node.retry, timeoutSeconds: undefined, ...ends },
    perform: async (attempt) =>
      ofChild(
        node.workflow,
        await answerOf(run, mock, { args, place: placeOf(step, attempt), named }),
      ),
  });
}

/** The mock of a workflow. Throws PlayError if there is none. */
export function mockOfWorkflow(run: Playing, nodeId: string, workflow: string): [Mock, string] {
  const { workflows = {} } = run.world.options;
  const named = `workflows['${workflow}']`;
  if (Object.hasOwn(workflows, workflow)) return [workflows[workflow] as Mock, named];
  const key = keyOf(run.name, nodeId);
  throw new PlayError(
    `Node '${key}' runs the workflow '${workflow}', which is not given: put the workflow, or a mock of its output, in ${named}`,
  );
}

/** The failure of a mock, as that of a run. */
export function ofChild(workflow: string, answer: Answer): Answer {
  if (!('error' in answer) || answer.error.kind !== 'node') return answer;
  const { message, retryable, retryAfterMs } = answer.error;
  const text = childFailed(workflow, message);
  return {
    seconds: answer.seconds,
    error: new NodeError(text, { kind: 'child', retryable, retryAfterMs }),
  };
}

/** A step that waits for a run that is played. */
export interface ChildWork extends Pick<Work, 'entry' | 'succeeded' | 'failed'> {
  /** In `workflows`. */
  name: string;
  input: JsonObject;
  retry: NodeRetry | undefined;
}

/** Starts the run of a step, or continues the one that has failed before. */
export function runChild(run: Playing, work: ChildWork): void {
  const { clock, workflows } = run.world;
  const { step_key: key } = work.entry;
  const workflow = workflows.get(work.name)!;
  run.book.begin(work.entry, 'running', work.input);
  run.inFlight.add(key);
  clock.at(clock.now, () => {
    if (run.end !== undefined) return;
    run.inFlight.delete(key);
    const started = clock.now;
    const refusal = refusalOf(run, workflow, work.input);
    if (refusal !== undefined) {
      run.book.attempt(key, started, refusal);
      work.failed({ message: refusal, kind: 'child', attempts: 1 });
      run.proceed();
      return;
    }
    const known = run.children.get(key);
    const child =
      known ?? createPlaying(run.world, workflow.graph, work.input, work.name, run.depth + 1);
    run.children.set(key, child);
    follow(run, child, { work, workflow, tries: 0, started });
    if (known === undefined) child.proceed();
    else resumeRun(child);
    run.proceed();
  });
}

/** Why the service would not start a run. */
function refusalOf(
  { depth, world }: Playing,
  { inputSchema }: PlayedWorkflow,
  input: JsonObject,
): string | undefined {
  if (depth >= MAX_RUN_DEPTH) return tooDeep;
  return inputSchema && refusedInput(world.schemas.input(inputSchema, input), 'workflow');
}

function follow(
  run: Playing,
  child: Playing,
  {
    work,
    workflow,
    tries,
    started,
  }: { work: ChildWork; workflow: PlayedWorkflow; tries: number; started: number },
): void {
  const { clock } = run.world;
  const { step_key: key } = work.entry;
  child.noticed = () => {
    clock.at(clock.now, () => {
      if (run.end !== undefined) return;
      const { end } = child;
      if (end?.status === 'success') {
        child.noticed = () => undefined;
        settle(run, work, started, { output: end.output });
      } else if (end?.status === 'failed') {
        child.noticed = () => undefined;
        const error = childFailed(workflow.name, end.error);
        const failed = tries + 1;
        const again = end.kind === 'node' && failed < (work.retry?.max_attempts ?? 1);
        if (!again) {
          settle(run, work, started, {
            error: { message: error, kind: 'child', attempts: failed },
          });
          return;
        }
        run.book.attempt(key, started, error);
        run.inFlight.add(key);
        clock.at(clock.now + retryDelayMs(work.retry, failed), () => {
          if (run.end !== undefined) return;
          run.inFlight.delete(key);
          follow(run, child, { work, workflow, tries: failed, started: clock.now });
          resumeRun(child);
          run.proceed();
        });
        return;
      }
      // It is paused, or waits.
      run.proceed();
    });
  };
}

function settle(
  run: Playing,
  work: ChildWork,
  started: number,
  result: { output: Json } | { error: CaughtError },
): void {
  const { step_key: key } = work.entry;
  if ('output' in result) {
    run.book.attempt(key, started, null);
    work.succeeded(result.output);
  } else {
    run.book.attempt(key, started, result.error.message);
    work.failed(result.error);
  }
  run.proceed();
}
