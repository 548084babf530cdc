import { Button, Group, Kbd, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { PendingGate } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { decisionForm as text } from '#console/src/messages/en/gates.ts';
import { gateQuery } from '#console/src/queries/runs.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { ShownListsView } from '#console/src/parts/consequences/shown-lists.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { roundOf } from '#console/src/parts/gates/drafts.ts';
import { Undo } from '#console/src/parts/gates/undo.tsx';
import { sendNow, useWaitingDecision } from '#console/src/parts/gates/waiting-decision.ts';
import { useKeptFocus } from '#console/src/parts/keep-focus.ts';
import { useShortcutsOn } from '#console/src/parts/shortcuts.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { ArgumentsField } from './arguments-field.tsx';
import { DecisionFields } from './decision-fields.tsx';
import { Conflict, Lists, MayNotDecide, TooLate, Unsatisfiable } from './decision-notes.tsx';
import { GateRules } from './gate-rules.tsx';
import { problemsInWords } from './schema-fields.ts';
import { Rechecked } from './rechecked.tsx';
import { ToolCall } from './tool-call.tsx';
import { type AnswerKeys, useAnswerKeys } from './use-answer-keys.ts';
import {
  isConflict,
  isInvalid,
  useDecision,
  type ChoiceProps,
  type DecisionProps,
  wasAboutOthers,
} from './use-decision.ts';

/**
 * Decides an open gate: the fields that it requires, an optional reason, and two buttons. The decision is sent a few
 * seconds later, so that it can be undone. Users who cannot decide see the reason. With `inbox`, there are keys to
 * approve, edit and reject, and the decision is not sent when the form is left.
 */
export function DecisionForm({
  inbox = false,
  below,
  ...decision
}: DecisionProps & {
  inbox?: boolean;
  /** What people read before they decide. The buttons stay in view beside it. */
  below?: ReactNode;
}) {
  const { gate, runId } = decision;
  const { tool_call: call } = gate;
  const mayDecide = useMay('approve_gates');
  const known = useQuery(gateQuery(runId, gate.step_key));
  const { data } = known;
  const [conflict, setConflict] = useState<{ error: Error; digest: string | undefined }>();
  const waiting = useWaitingDecision();
  const round = roundOf(runId, gate);
  useEffect(() => (inbox ? undefined : () => sendNow()), [inbox]);
  const refusal = data?.refusal ?? null;
  const place = useRef<HTMLDivElement>(null);
  useKeptFocus(place);
  return (
    <Stack gap="md" ref={place} tabIndex={-1}>
      {call !== undefined && <ToolCall gate={gate} call={call} />}
      {(!mayDecide || waiting?.key === round || refusal !== null) && call?.arguments != null && (
        <ArgumentsField
          of={call.tool}
          given={call.arguments}
          tool={data?.tool ?? null}
          edited={waiting?.key === round ? waiting.answer.arguments : undefined}
        />
      )}
      <GateRules gate={gate} />
      {conflict !== undefined && <Conflict {...conflict} now={call?.digest} />}
      {known.isError && data === undefined && (
        <Failure error={known.error} onRetry={() => void known.refetch()} />
      )}
      {!mayDecide ? (
        <>
          <Lists of={data} />
          <MayNotDecide />
          {below}
        </>
      ) : waiting?.key === round ? (
        <>
          {below}
          <Undo decision={waiting} sticky />
        </>
      ) : refusal !== null ? (
        <>
          <Lists of={data} />
          <Dimmed>{text.refused(refusal)}</Dimmed>
          {below}
        </>
      ) : (
        <Choices
          key={round}
          {...{ round, inbox, below, known: data, ...decision }}
          onConflict={(error) => setConflict({ error, digest: call?.digest })}
        />
      )}
    </Stack>
  );
}

function unfitText(problem: string, schema: unknown): string {
  const inWords = problemsInWords(problem, schema);
  return inWords === undefined ? text.unfit(problem) : text.unfitFields(inWords);
}

function Choices({ below, ...props }: ChoiceProps & { below: ReactNode }) {
  const { gate, known, inbox, rejection } = props;
  const decision = useDecision(props);
  const { check, lists } = decision;
  const form = useRef<HTMLFormElement>(null);
  const keys = useAnswerKeys(props, decision, form);
  const problem = known?.schema_problem ?? undefined;
  const unfit = isInvalid(check.error) ? check.error.detail : undefined;
  const refused = isConflict(check.error) && wasAboutOthers(decision);
  // The message about a changed call is above the form, that about changed lists above the lists.
  const above = refused || (gate.tool_call !== undefined && isConflict(check.error));
  // The fields show where.
  const inFields =
    unfit !== undefined && (gate.input_schema ?? decision.draft.edited) !== undefined;
  return (
    <form
      ref={form}
      tabIndex={-1}
      aria-label={words.decision}
      onKeyDownCapture={keys.press}
      onSubmit={(event) => event.preventDefault()}
    >
      <Stack gap="sm">
        {problem !== undefined && <Unsatisfiable problem={problem} />}
        <DecisionFields tool={known?.tool ?? null} refusal={unfit} {...{ gate, decision, keys }}>
          <Rechecked gate={gate} decision={decision} />
          {lists.shown === undefined ? (
            <Lists of={known} />
          ) : (
            <ShownListsView {...{ lists, gate, refused }} />
          )}
        </DecisionFields>
        {keys.late && <TooLate />}
        {inFields && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {unfitText(unfit, gate.input_schema)}
          </Text>
        )}
        {check.error !== null && !inFields && !above && <Failure error={check.error} />}
        <Dimmed size="xs">
          <strong>{text.approving}</strong> {effectOf(gate)} <strong>{text.rejecting}</strong>{' '}
          {rejectionText(gate, rejection)}
        </Dimmed>
        {below}
        <AnswerButtons
          {...{ keys, changes: decision.changes }}
          shortcuts={inbox}
          isChecking={check.isPending}
        />
      </Stack>
    </form>
  );
}

function AnswerButtons({
  keys: { mayApprove, mayReject, armed, approve, reject },
  changes,
  shortcuts,
  isChecking,
}: {
  keys: AnswerKeys;
  /** The number of changes of the arguments. */
  changes: number;
  shortcuts: boolean;
  isChecking: boolean;
}) {
  const [shortcutsOn] = useShortcutsOn();
  const hint = (key: string) =>
    // Hidden on small screens, which rarely have a keyboard.
    shortcuts &&
    shortcutsOn && (
      <Kbd size="xs" visibleFrom="sm">
        {key}
      </Kbd>
    );
  return (
    <Group gap="sm" className="decision-buttons">
      <Button
        color="success.9"
        loading={isChecking}
        disabled={!mayApprove}
        rightSection={hint('a')}
        onClick={approve}
      >
        {changes === 0 ? text.approve : text.approveChanged(changes)}
      </Button>
      <Button
        {...(armed ? { color: 'danger.9' } : { variant: 'default' })}
        disabled={!mayReject}
        rightSection={hint(armed ? text.send : 'r')}
        onClick={reject}
      >
        {text.reject}
      </Button>
    </Group>
  );
}

function effectOf(gate: PendingGate): string {
  const missing = (gate.required ?? 1) - (gate.decisions?.length ?? 0);
  if (missing > 1) return text.continuesAfter(missing);
  if (gate.tool_call === undefined) return text.continues;
  return gate.tool_call.turn === null ? text.callsStep : text.callsTool;
}

function rejectionText(gate: PendingGate, rejection: string | undefined): string {
  if (gate.tool_call !== undefined) {
    return gate.tool_call.turn === null ? text.callsNoStep : text.callsNoTool;
  }
  return rejection ?? text.takesRejected;
}
