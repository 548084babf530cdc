import type {
  EventTrigger,
  EventTriggerInput,
  EventTriggerUpdate,
} from '#shared/contract/events/trigger.ts';
import { readTrigger } from '#shared/db/events/triggers.ts';
import * as triggers from '#shared/db/events/triggers.ts';
import type { Db, Pool } from '#shared/db/pool.ts';
import { readInputSchema } from '#shared/db/workflows/current-graph.ts';
import { AppError } from '#shared/errors.ts';
import { ExpressionError, expressionRoots } from '#shared/graph/expression/expression.ts';
import { parseTemplate, templateReads } from '#shared/graph/expression/template.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { EVENT } from '#shared/graph/waits/wait-call.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { requireFittingInput } from '#shared/operations/workflows/workflow-input.ts';
import type { Actor } from '#shared/people/actor.ts';

/** Throws AppError `not_found`, `invalid`, `input_invalid`, and those of the database's `createTrigger`. */
export async function createTrigger(
  db: Pool,
  actor: Actor,
  input: EventTriggerInput & { workflowId: string },
): Promise<EventTrigger> {
  const { workspaceId } = actor;
  if (input.match !== null) checkMatch(input.match);
  await checkInput(db, { workspaceId, workflowId: input.workflowId }, input.input);
  return triggers.createTrigger(db, actor, input);
}

/** Throws AppError `not_found`, `invalid`, `input_invalid`, and those of the database's `updateTrigger`. */
export async function updateTrigger(
  db: Pool,
  actor: Actor,
  triggerId: string,
  change: EventTriggerUpdate,
): Promise<void> {
  const { workspaceId } = actor;
  if (change.match != null) checkMatch(change.match);
  if (change.input !== undefined || change.enabled === true) {
    const before = await readTrigger(db, { workspaceId, triggerId });
    const scope = { workspaceId, workflowId: before.workflow_id };
    await checkInput(db, scope, change.input === undefined ? before.input : change.input);
  }
  await triggers.updateTrigger(db, actor, triggerId, change);
}

const invalid = (problem: string): AppError => new AppError('invalid', `Invalid body: ${problem}`);

/** Throws AppError `invalid` if it does not parse, or reads something else than the event. */
function checkMatch(match: string): void {
  let roots;
  try {
    roots = expressionRoots(match);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw invalid(`match ${error.message}`);
  }
  const other = roots.find((root) => root !== EVENT);
  if (other !== undefined) {
    throw invalid(
      `match reads '${other}', but a trigger has only the event: for example event.data.${other}`,
    );
  }
}

/**
 * Checks the input as far as it is known without an event: what its templates read, and whether the workflow's input
 * has these keys. Throws AppError `invalid`, `input_invalid`, `not_found`.
 */
async function checkInput(
  db: Db,
  scope: { workspaceId: string; workflowId: string },
  input: JsonObject | null,
): Promise<void> {
  if (input === null) return;
  const texts = textsIn(input);
  for (const text of texts) {
    const other = templateReads(text).find(({ key }) => key !== EVENT)?.key;
    if (other === undefined) continue;
    throw invalid(
      `input reads '{${other}}', but a trigger has only the event: for example {event.data.${other}}`,
    );
  }
  const isKnown = texts.every((text) =>
    parseTemplate(text).parts.every((part) => typeof part === 'string'),
  );
  if (isKnown) return requireFittingInput(db, scope, input);
  const schema = await readInputSchema(db, scope);
  const required: readonly Json[] = Array.isArray(schema?.['required']) ? schema['required'] : [];
  const missing = required
    .filter((key) => typeof key === 'string')
    .find((key) => !Object.hasOwn(input, key));
  if (missing !== undefined) {
    throw new AppError(
      'input_invalid',
      `Invalid input: the workflow requires '${missing}'; add it, for example "${missing}": "{event.data.${missing}}"`,
    );
  }
  if (schema?.['additionalProperties'] !== false) return;
  const { properties = {} } = schema;
  const known = isObject(properties) ? Object.keys(properties) : [];
  const extra = Object.keys(input).find((key) => !known.includes(key));
  if (extra === undefined) return;
  throw new AppError(
    'input_invalid',
    `Invalid input: the workflow has no '${extra}'; its input has ${known.join(', ')}`,
  );
}

/** The texts in a value, at any depth. */
function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
