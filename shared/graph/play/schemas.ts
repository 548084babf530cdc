import type { SchemaOutcome } from '#shared/graph/failure-texts.ts';
import type { Json, JsonObject } from '#shared/json.ts';

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
