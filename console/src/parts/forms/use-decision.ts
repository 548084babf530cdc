import { useMemo, useState } from 'react';
import { ApiError, type Gate, type JsonObject, type PendingGate } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { checkedGatesKey, runsKey } from '#console/src/queries/runs.ts';
import { forgetRead } from '#console/src/parts/consequences/first-read.ts';
import { useShown } from '#console/src/parts/consequences/use-shown.ts';
import { changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { type Draft, useDraft } from '#console/src/parts/gates/drafts.ts';
import { decideLater, type WaitingDecision } from '#console/src/parts/gates/waiting-decision.ts';
import { useAction } from './action.ts';
import { readObject } from './read-object.ts';
import { startOfSchema } from './schema-fields.ts';

export interface DecisionProps {
  runId: string;
  gate: PendingGate;
  /** The effect of a rejection, if known. */
  rejection?: string | undefined;
  /** Called when the decision is made; it can still be undone. */
  onDecided?: ((approved: boolean) => void) | undefined;
  onUndo?: (() => void) | undefined;
}

export interface ChoiceProps extends DecisionProps {
  round: string;
  inbox: boolean;
  /** Undefined until it has loaded. */
  known: Gate | undefined;
  /** Called when the service refuses the decision because the gate has changed. */
  onConflict: (error: Error) => void;
}

type Answer = WaitingDecision['answer'];

/** Whether the service refused the input, for example because of the schema of the gate or tool. */
export const isInvalid = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 400;

export const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 409;

/** What was entered at a gate, and `decide`, which lets the service check the decision and sends it a little later. */
export function useDecision(props: ChoiceProps) {
  const { runId, gate, known, round, onDecided, onUndo, onConflict } = props;
  const { draft, change, drop } = useDraft(round);
  const { tool_call: call, step_key: stepKey, title, input_schema: schema } = gate;
  const form = draft.form ?? startOfSchema(schema);
  const given = call?.arguments ?? null;
  const changes = useChanges(given, draft.edited);
  const lists = useShown({ runId, gate, round, known }, enteredInput({ ...draft, form }, gate));
  const [broken, setBroken] = useState(false);
  const [mistake, setMistake] = useState<string>();
  const { accepted, accept } = useAccepted(gate);
  const check = useAction(
    async ({ approved, answer }: { approved: boolean; answer: Answer }) => {
      const { input, ...options } = answer;
      try {
        await api().approve(runId, approved, input, { stepKey, onlyCheck: true, ...options });
      } catch (error) {
        if (call !== undefined && isConflict(error)) onConflict(error);
        throw error;
      }
    },
    {
      changes: [runsKey, checkedGatesKey],
      onDone: (_, { approved, answer }) => {
        const onSent = (): void => {
          drop();
          forgetRead(round);
        };
        decideLater({
          ...{ key: round, runId, stepKey, title, approved, answer, onSent, onUndo },
          nodeId: gate.node_id,
          changes: answer.arguments === undefined ? 0 : changes,
        });
        onDecided?.(approved);
      },
      quiet: true,
    },
  );
  // What has not been read yet cannot be decided.
  const isReady = call !== undefined || known !== undefined;
  const decide = (approved: boolean): void => {
    if (check.isPending || !isReady || (approved && broken)) return;
    const read = readAnswer({ ...draft, form }, { approved, schema, given });
    setMistake('mistake' in read ? read.mistake : undefined);
    if ('mistake' in read) return;
    const reason = draft.reason?.trim() ?? '';
    check.mutate({
      approved,
      answer: {
        ...read,
        digest: call?.digest ?? (approved ? lists.shown : lists.plain)?.digest,
        reason: reason || undefined,
        acceptChanges: (approved && accepted) || undefined,
      },
    });
  };
  return {
    ...{ draft, change, form, broken: setBroken, mistake, check, decide, lists, isReady },
    ...{ accepted, accept, changes },
  };
}

/** Whether the user accepts what a recheck found, by its time: later differences are others. */
export function useAccepted({ stale }: Pick<PendingGate, 'stale'>) {
  const [at, setAt] = useState<string>();
  return {
    accepted: stale !== undefined && stale.at === at,
    accept: (does: boolean): void => setAt(does ? stale?.at : undefined),
  };
}

/** How many changes of the arguments of a call were entered. */
const useChanges = (given: JsonObject | null, edited: JsonObject | undefined): number =>
  useMemo(
    () => (given === null || edited === undefined ? 0 : changesOf(given, edited).length),
    [given, edited],
  );

export type DecisionState = ReturnType<typeof useDecision>;

/** Whether the refused decision was about other lists than those on the screen. */
export const wasAboutOthers = ({
  check,
  lists: { shown, plain, isChecking },
}: DecisionState): boolean => {
  const { approved = true, answer } = check.variables ?? {};
  const now = approved ? shown : plain;
  return now !== undefined && (isChecking || answer?.digest !== now.digest);
};

/** The input that an approval would have now; undefined if there is none, or if it is no JSON. */
function enteredInput(
  draft: Draft,
  { tool_call: call, input_schema: schema }: PendingGate,
): JsonObject | undefined {
  if (call !== undefined) return undefined;
  const read = readAnswer(draft, { approved: true, schema, given: null });
  return 'mistake' in read ? undefined : read.input;
}

/**
 * What was entered, as a request, without fields that are empty or change nothing. A rejection has no form and no
 * arguments.
 */
function readAnswer(
  { form = {}, input = '', edited }: Draft,
  asked: { approved: boolean; schema: JsonObject | undefined; given: JsonObject | null },
): Pick<Answer, 'input' | 'arguments'> | { mistake: string } {
  const { approved, schema, given } = asked;
  if (given !== null) {
    const changed = edited !== undefined && changesOf(given, edited).length > 0;
    return approved && changed ? { arguments: edited } : {};
  }
  if (schema !== undefined) return approved ? { input: form } : {};
  if (input.trim() === '') return {};
  const read = readObject(input);
  if ('mistake' in read) return read;
  return Object.keys(read.value).length === 0 ? {} : { input: read.value };
}
