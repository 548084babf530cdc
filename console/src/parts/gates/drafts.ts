import { useCallback, useState } from 'react';
import type { JsonObject, PendingGate } from '#client/index.ts';
import { useIdentity } from '#console/src/queries/identity.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

/** What someone has entered at a gate but not sent. */
export interface Draft {
  reason?: string;
  /** For a gate with a schema. */
  form?: JsonObject;
  /** JSON, for a gate without a schema. */
  input?: string;
  /** The arguments of a tool call. */
  edited?: JsonObject;
}

/** Identifies a gate in this round: one that opens again, or has other arguments, needs a new decision. */
export const roundOf = (
  runId: string,
  { step_key, since, tool_call }: Pick<PendingGate, 'step_key' | 'since' | 'tool_call'>,
): string => [runId, step_key, since, tool_call?.digest ?? ''].join(' ');

const PREFIX = 'workflows.decision.';

/**
 * What the user has entered at a gate. It is stored in this tab until it is sent, so that it survives a reload, a
 * sign-in and a decision by someone else.
 */
export function useDraft(round: string) {
  const { id } = useIdentity();
  const key = `${PREFIX}${id ?? ''} ${round}`;
  const [draft, setDraft] = useState(() => readDraft(key));
  const change = useCallback(
    (part: Draft) =>
      setDraft((before) => {
        const next = { ...before, ...part };
        sessionStorage.setItem(key, JSON.stringify(next));
        return next;
      }),
    [key],
  );
  const drop = useCallback(() => {
    sessionStorage.removeItem(key);
    setDraft({});
  }, [key]);
  return { draft, change, drop };
}

/** The unsent drafts of earlier rounds of a gate of this run. */
export function useUnsent(runId: string, stepKey: string): Draft | undefined {
  const { id } = useIdentity();
  const start = `${PREFIX}${id ?? ''} ${runId} ${stepKey} `;
  const key = Object.keys(sessionStorage).find((each) => each.startsWith(start));
  return key === undefined ? undefined : readDraft(key);
}

function readDraft(key: string): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key) ?? '{}');
    return isRecord(stored) ? (stored as Draft) : {};
  } catch {
    return {};
  }
}
