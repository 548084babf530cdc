import { playWorkflow } from '../shared/graph/play/play-workflow.ts';
import type { Playable, PlayOptions } from '../shared/graph/play/options.ts';
import type { PlayedRun } from '../shared/graph/play/played-run.ts';
import type { Schemas } from '../shared/graph/play/schemas.ts';
import {
  ArgumentSchemaError,
  argumentsProblem,
  checkArgumentSchema,
} from '../shared/platform/calls/argument-schema.ts';
import { checkInputSchema, inputProblem } from '../shared/platform/calls/input-schema.ts';

export { after, attempts, failure } from '../shared/graph/play/mock.ts';
export type { FailureFields, Mock, MockCall, MockValue } from '../shared/graph/play/mock.ts';
export type {
  AgentMock,
  AgentTurn,
  AskedTurn,
  Decision,
  Decisions,
  Playable,
  PlayableGraph,
  PlayableWorkflow,
  PlayedEvent,
  PlayedTool,
  PlayOptions,
} from '../shared/graph/play/options.ts';
export { PlayError } from '../shared/graph/play/play-error.ts';
export type {
  OpenGate,
  OpenWait,
  PlayedAttempt,
  PlayedEvals,
  PlayedRun,
  PlayedStep,
} from '../shared/graph/play/played-run.ts';

/**
 * Runs a workflow in this process, without a server: a graph, the content of a workflow file, or what the builder
 * returns. Agents, tools, code and sub-workflows are mocks, gates are decided by `decisions`, and time passes at once.
 * Throws PlayError for a workflow or an option that is not valid, and where a mock is missing.
 */
export const play = (workflow: Playable, options: PlayOptions = {}): Promise<PlayedRun> =>
  playWorkflow(workflow, options, schemas);

const schemas: Schemas = {
  input: (schema, value) => outcomeOf(() => inputProblem(schema, value)),
  arguments: (schema, args) => outcomeOf(() => argumentsProblem(schema, args)),
  answer: (schema, answer) => outcomeOf(() => inputProblem(schema, answer, '')),
  problem: (schema, isForm) =>
    outcomeOf(() => {
      (isForm ? checkInputSchema : checkArgumentSchema)(schema);
      return undefined;
    }).schemaProblem,
};

function outcomeOf(judge: () => string | undefined): { problem?: string; schemaProblem?: string } {
  try {
    const problem = judge();
    return problem === undefined ? {} : { problem };
  } catch (error) {
    if (error instanceof ArgumentSchemaError) return { schemaProblem: error.message };
    throw error;
  }
}
