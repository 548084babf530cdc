import type { Json, JsonObject } from '#shared/json.ts';

/** An invalid schema, or a value that does not match it; neither if it matches. */
export interface SchemaOutcome {
  schemaProblem?: string;
  problem?: string;
}

/** The comparison of values with JSON Schemas, with the texts of the service. */
export interface Schemas {
  /** Input of a run or a form. */
  input: (schema: JsonObject, value: Json) => SchemaOutcome;
  arguments: (schema: JsonObject, args: JsonObject) => SchemaOutcome;
  /** The answer of a model. */
  answer: (schema: JsonObject, answer: Json) => SchemaOutcome;
  /** Why a schema cannot be used, for a form that people fill in or for any value. */
  problem: (schema: JsonObject, isForm: boolean) => string | undefined;
}

/** Why an input is refused, as the service says it. */
export const refusedInput = (
  { problem, schemaProblem }: SchemaOutcome,
  owner: 'workflow' | 'gate',
): string | undefined =>
  schemaProblem === undefined
    ? problem && `Invalid input: ${problem}`
    : `The input cannot be checked: the ${owner}'s input_schema ${schemaProblem}`;
