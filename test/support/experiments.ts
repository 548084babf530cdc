import type { Experiment, ExperimentRequest } from '#shared/contract/experiments/experiment.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import { listResults } from '#shared/db/experiments/results.ts';
import { readExperiment } from '#shared/db/experiments/listing.ts';
import { saveDraft } from '#shared/db/workflows/drafts.ts';
import { replaceChecks } from '#shared/db/workflows/workflows.ts';
import type { JsonObject } from '#shared/json.ts';
import { startExperiment } from '#shared/operations/experiments/start.ts';
import { type Engine, eventually } from './engine.ts';

/** A workflow with past runs, and experiments with drafts of it. */
export interface Laboratory {
  workflowId: string;
  /** Of the past runs, in the order of the inputs. */
  runIds: string[];
}

/** Defines a workflow with these checks, and runs it with each input to its end. */
export async function pastRuns(
  engine: Engine,
  graph: GraphInput,
  inputs: readonly JsonObject[],
  checks: readonly EvaluationCheck[] = [],
): Promise<Laboratory> {
  const workflowId = await engine.define(graph);
  await replaceChecks(engine.db, engine.actor, workflowId, checks);
  const runIds: string[] = [];
  for (const input of inputs) {
    const runId = await engine.trigger(workflowId, input);
    await engine.until(runId, ['success', 'failed']);
    runIds.push(runId);
  }
  return { workflowId, runIds };
}

/** Saves a draft in place of the one that is there. Returns its entity tag. */
export async function redraft(
  engine: Engine,
  workflowId: string,
  graph: GraphInput,
): Promise<string> {
  const { draft } = await saveDraft(engine.db, engine.actor, workflowId, {
    input: { graph: graph as never },
    ifMatch: undefined,
  });
  return draft.etag;
}

/** Starts an experiment with all past runs, unless the request says otherwise. Returns its id. */
export async function start(
  engine: Engine,
  workflowId: string,
  request: Partial<ExperimentRequest> = {},
): Promise<string> {
  const { id, dispatched } = await startExperiment(engine.deps, engine.actor, workflowId, {
    candidate: 'draft',
    runs: { last: 1_000 },
    ...request,
  });
  await dispatched;
  return id;
}

/** An experiment as it is now, with all its runs. */
export async function readWhole(engine: Engine, id: string): Promise<Experiment> {
  const experiment = await readExperiment(engine.db, {
    workspaceId: engine.actor.workspaceId,
    id,
  });
  return { ...experiment, ...(await listResults(engine.db, id, {})) };
}

/** The experiment, once it has ended. */
export async function result(engine: Engine, id: string, withinMs = 60_000): Promise<Experiment> {
  await eventually(async () => (await readWhole(engine, id)).status !== 'running', withinMs);
  return readWhole(engine, id);
}

/** Starts an experiment, and waits for its end. */
export const tried = async (
  engine: Engine,
  workflowId: string,
  request: Partial<ExperimentRequest> = {},
): Promise<Experiment> => result(engine, await start(engine, workflowId, request));
