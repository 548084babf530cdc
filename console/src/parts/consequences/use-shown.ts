import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, type Gate, type JsonObject, type PendingGate } from '#client/index.ts';
import { checkedGateQuery } from '#console/src/queries/runs.ts';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { firstRead, type Shown } from './first-read.ts';

const PAUSE_MS = 300;

/**
 * The lists of a gate as an approver sees them: with the input that is entered, as far as it fits. `digest` is what a
 * decision about them has to be sent with.
 */
export function useShown(
  {
    runId,
    gate,
    round,
    known,
  }: { runId: string; gate: PendingGate; round: string; known: Gate | undefined },
  input: JsonObject | undefined,
) {
  const plain = plainOf(known);
  const isFilled = input === undefined || isComplete(gate.input_schema, input);
  const entered = input && exactJson(input);
  const [asked] = useDebouncedValue(entered, PAUSE_MS);
  const query = useQuery({
    ...checkedGateQuery(runId, gate.step_key, {
      input: asked === undefined ? {} : (JSON.parse(asked) as JsonObject),
      // The same input has other lists when those of the gate change.
      basis: `${round} ${plain?.digest} ${gate.decisions?.length ?? 0}`,
    }),
    enabled: plain !== undefined && input !== undefined && asked !== undefined && isFilled,
  });
  const isChecking = isFilled && (asked !== entered || query.isFetching);
  const [last, setLast] = useState<Shown>();
  const found = query.isPlaceholderData ? undefined : query.data?.shown;
  if (found !== undefined && found !== last) setLast(found);
  const live = input === undefined ? undefined : last;
  const first = plain && firstRead(round, plain);
  const isStale = first?.digest !== plain?.digest;
  return {
    /** What is on the screen; undefined if it is not known. */
    shown: live ?? plain,
    /** The lists without input. */
    plain,
    /** The lists that the marks refer to. */
    reference: isStale ? first : live && plain,
    isStale,
    isChangedByInput: live !== undefined && live.digest !== plain?.digest,
    isChecking,
    note: input && noteOf({ isChecking, isFilled, isLive: live !== undefined, error: query.error }),
  };
}

export type ShownLists = ReturnType<typeof useShown>;

/** What the gate shows without an input; undefined if that is not known. */
function plainOf(known: Gate | undefined): Shown | undefined {
  const { consequences = null, digest = null } = known ?? {};
  return consequences === null || digest === null ? undefined : { consequences, digest };
}

/** Whether the fields that a form requires have values, so that it can fit. */
const isComplete = (schema: JsonObject | undefined, input: JsonObject): boolean => {
  const required: unknown = schema?.['required'];
  return !Array.isArray(required) || required.every((name) => Object.hasOwn(input, String(name)));
};

type Note =
  | { kind: 'incomplete' | 'lastComplete' | 'checking' | 'withInput' }
  | { kind: 'invalid' | 'failed'; error: Error };

/** How the lists relate to the input. */
function noteOf({
  isChecking,
  isFilled,
  isLive,
  error,
}: {
  isChecking: boolean;
  isFilled: boolean;
  isLive: boolean;
  error: Error | null;
}): Note | undefined {
  if (!isFilled) return { kind: isLive ? 'lastComplete' : 'incomplete' };
  if (isChecking) return { kind: 'checking' };
  // A member who has already approved gets no lists.
  if (error === null) return isLive ? { kind: 'withInput' } : undefined;
  const isInvalid = error instanceof ApiError && error.status === 400;
  return { kind: isInvalid ? 'invalid' : 'failed', error };
}
