import { readStart, refuseStart, type Start, takeStarts } from '#shared/db/events/starts.ts';
import { shownEvent } from '#shared/db/waits/awaited-events.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import { renderValue, TemplateError } from '#shared/graph/expression/template.ts';
import { isObject, typeName } from '#shared/graph/json-value.ts';
import { EVENT } from '#shared/graph/waits/wait-call.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { type RunDeps, triggerRun } from '#shared/operations/runs/runs.ts';

/** Starts the runs of event triggers. */

const STARTED_AT_ONCE = 10;
const TAKEN_AT_ONCE = 50;

/** Refusals that another try would get, too. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'quota_exceeded',
  'budget_exceeded',
  'graph_invalid',
  'input_invalid',
]);

/** Starts the runs, or stores why not. What fails otherwise is tried again by a worker, when its lease has expired. */
export async function startRuns(deps: RunDeps, starts: readonly Start[]): Promise<void> {
  await eachOf(starts, STARTED_AT_ONCE, async (start) => {
    try {
      await startRun(deps, start);
    } catch (error) {
      deps.log.warn({ err: error, ...start }, 'could not start the run of an event trigger');
    }
  });
}

async function startRun(deps: RunDeps, start: Start): Promise<void> {
  const due = await readStart(deps.db, start);
  if (due === null) return;
  const { workspace_id: workspaceId, workflow_id: workflowId } = due;
  const refuse = async (reason: string): Promise<void> => {
    await refuseStart(deps.db, start, reason);
    deps.log.info({ ...start, reason }, 'an event trigger started no run');
  };
  if (!due.enabled) return refuse('The trigger was disabled before its run started');
  const input = inputOf(due.input, shownEvent(due));
  if ('problem' in input) return refuse(input.problem);
  try {
    const { dispatched } = await triggerRun(deps, {
      actor: { workspaceId, id: null, name: due.name },
      workflowId,
      trigger: 'event',
      input: input.value,
      audit: { action: 'trigger_run', details: { ...start, event: due.name } },
      start,
    });
    await dispatched;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'not_found') return;
    if (!REFUSALS.has(error.code)) throw error;
    await refuse(error.message);
  }
}

/** The input of a run: the templates of the trigger, filled with the event, or the data of the event. */
function inputOf(
  templates: JsonObject | null,
  event: JsonObject,
): { value: JsonObject } | { problem: string } {
  if (templates === null) {
    const data: Json = event['data'] ?? null;
    if (isObject(data)) return { value: data };
    return {
      problem: `The data of the event is a ${typeName(data)}, and the input of a run is an object: give the trigger an input, such as {"value": "{event.data}"}`,
    };
  }
  try {
    return { value: renderValue(templates, { [EVENT]: event }) as JsonObject };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { problem: `The input cannot be filled in: ${error.message}` };
  }
}

/** Starts what a process that was killed left behind. */
export const startEventStarts = (deps: RunDeps): Loop =>
  startLoop({ name: 'event starts', ...deps }, async () => {
    const due = await takeStarts(deps.db, TAKEN_AT_ONCE);
    await startRuns(deps, due);
    return due.length === TAKEN_AT_ONCE;
  });
