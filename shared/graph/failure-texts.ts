/** What the service and `play` say about the same failures. */

/** Each run in a chain adds to the error. */
const MAX_CHILD_ERROR = 2_000;

/** Why a step fails whose sub-workflow has failed. */
export const childFailed = (workflow: string, error: string): string =>
  `The run of '${workflow}' failed: ${error}`.slice(0, MAX_CHILD_ERROR);

export const timedOut = (seconds: number): string => `Timed out after ${seconds} s`;

export const outputTooLarge = (problem: string): string => `The output is too large: ${problem}`;

export const mockFailed = (attempt: number, failures: number): string =>
  `Mock failure ${attempt} of ${failures}`;

/** An invalid schema, or a value that does not match it; neither if it matches. */
export interface SchemaOutcome {
  schemaProblem?: string | undefined;
  problem?: string | undefined;
}

/** Why an answer of a model is refused by the response schema of its node; undefined when it matches. */
export function refusedAnswer(
  model: string,
  { schemaProblem, problem }: SchemaOutcome,
): string | undefined {
  if (schemaProblem !== undefined) return `The response_schema ${schemaProblem}`;
  if (problem === undefined) return undefined;
  return `The response of ${model} does not fit the response_schema: ${problem}`;
}

/** Why an input is refused; undefined when it matches. `owner` has the schema: a workflow, or the gate of a decision. */
export function refusedInput(
  { schemaProblem, problem }: SchemaOutcome,
  owner: 'workflow' | 'gate',
): string | undefined {
  if (schemaProblem !== undefined) {
    return `The input cannot be checked: the ${owner}'s input_schema ${schemaProblem}`;
  }
  return problem === undefined ? undefined : `Invalid input: ${problem}`;
}
