import type { StoredLimits } from '#shared/contract/limits/limits.ts';
import { AppError } from '#shared/errors.ts';
import type { UnderLimits } from '#shared/db/runs/run-request.ts';
import { cancelOnOf } from '#shared/graph/limits/cancel-on.ts';
import { keysOf, type Place, PlaceError, priorityOf } from '#shared/graph/limits/place.ts';
import type { JsonObject } from '#shared/json.ts';
import { evaluateUntrusted } from '#shared/platform/threads/untrusted.ts';

/** What the limits mean for a run with this input. Throws AppError `input_invalid`. */
export async function underLimits(
  workspaceId: string,
  limits: StoredLimits,
  input: JsonObject,
): Promise<UnderLimits> {
  return {
    place: needsPlace(limits) ? await requirePlace(workspaceId, limits, input) : undefined,
    cancelOn: cancelOnOf(limits.cancel_on, input),
  };
}

const needsPlace = ({ concurrency, rate, debounce }: StoredLimits): boolean =>
  [concurrency, rate, debounce].some((limit) => limit != null);

/** The place of a run with this input. Throws AppError `input_invalid`. */
async function requirePlace(
  workspaceId: string,
  limits: StoredLimits,
  input: JsonObject,
): Promise<Place> {
  try {
    const keys = keysOf(limits, input);
    return { ...keys, priority: await priorityUnder(workspaceId, limits, input) };
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    throw new AppError('input_invalid', error.message);
  }
}

async function priorityUnder(
  workspaceId: string,
  { priority }: StoredLimits,
  input: JsonObject,
): Promise<number> {
  if (priority == null) return 0;
  const outcome = await evaluateUntrusted(workspaceId, priority, input);
  if ('problem' in outcome) {
    throw new PlaceError(`The priority cannot be computed: ${outcome.problem}`);
  }
  return priorityOf(outcome.value);
}
