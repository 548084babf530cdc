import { notifications } from '@mantine/notifications';
import { useSyncExternalStore } from 'react';
import { createClient, type JsonObject } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { apiUrl } from '#console/src/document.ts';
import { waitingDecision as text } from '#console/src/messages/en/gates.ts';
import { queryClient } from '#console/src/query-client.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { metricsQuery } from '#console/src/queries/workspace.ts';
import { sessionToken } from '#console/src/session.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';

/** How long a decision can be undone before it is sent. */
const UNDO_MS = 5_000;

/** A decision that was made but not sent yet. */
export interface WaitingDecision {
  /** Identifies the gate in this round. */
  key: string;
  runId: string;
  nodeId: string;
  stepKey: string;
  title: string;
  approved: boolean;
  /** How many changes of the arguments of a tool call it approves. */
  changes: number;
  answer: {
    input?: JsonObject;
    arguments?: JsonObject;
    reason?: string;
    digest?: string;
    acceptChanges?: boolean;
  };
  /** Called once the service has received it. */
  onSent?: () => void;
  onUndo?: (() => void) | undefined;
}

/** The displayed decision. `sendsAt` is in ms since 1970; undefined once it is being sent. */
export interface ShownDecision extends WaitingDecision {
  sendsAt: number | undefined;
}

let current: ShownDecision | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function show(next: ShownDecision | undefined): void {
  current = next;
  for (const listener of listeners) listener();
}

/**
 * Sends a decision after `UNDO_MS`, or sooner: when the page is left or hidden, or with the next decision. If the
 * service refuses it, a notification shows the reason.
 */
export function decideLater(decision: WaitingDecision): void {
  sendNow();
  show({ ...decision, sendsAt: Date.now() + UNDO_MS });
  timer = setTimeout(() => sendNow(), UNDO_MS);
}

/** Withdraws the waiting decision. Does nothing when it is already being sent. */
export function undoDecision(): void {
  if (current?.sendsAt === undefined) return;
  clearTimeout(timer);
  const { onUndo } = current;
  show(undefined);
  onUndo?.();
}

/** Sends the waiting decision, if there is one. `leaving`: the request must outlive the page. */
export function sendNow(leaving = false): void {
  if (current?.sendsAt === undefined) return;
  clearTimeout(timer);
  const sent = { ...current, sendsAt: undefined };
  show(sent);
  void send(sent, leaving).finally(() => {
    // Another decision may have followed.
    if (current === sent) show(undefined);
  });
}

async function send(decision: ShownDecision, leaving: boolean): Promise<void> {
  const { runId, stepKey, title: gate, approved, changes, answer, onSent } = decision;
  const { input, ...options } = answer;
  const mutation = queryClient.getMutationCache().build(queryClient, {
    mutationFn: () =>
      (leaving ? leavingClient() : api()).approve(runId, approved, input, { stepKey, ...options }),
  });
  try {
    await mutation.execute(undefined);
    onSent?.();
    notifications.show({
      color: 'success',
      message: approved ? text.sentApproved(gate, changes) : text.sentRejected(gate),
    });
  } catch (error) {
    notifications.show({
      color: 'danger',
      title: approved ? text.notApproved(gate) : text.notRejected(gate),
      message: describeError(error),
      autoClose: false,
    });
  }
  // Otherwise the gate would look undecided until it is read again.
  await Promise.all(
    [runsKey, metricsQuery.queryKey].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
}

/** A client whose requests the browser completes after the page is closed. */
function leavingClient() {
  const token = sessionToken();
  return createClient({
    baseUrl: apiUrl,
    ...(token && { token }),
    fetch: (url, init) => fetch(url, { ...init, keepalive: true }),
  });
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The decision that is waiting or being sent. */
export const useWaitingDecision = (): ShownDecision | undefined =>
  useSyncExternalStore(subscribe, () => current);

// A phone can end a hidden page without another event.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') sendNow(true);
});
window.addEventListener('pagehide', () => sendNow(true));
