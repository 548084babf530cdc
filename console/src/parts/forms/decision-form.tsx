import { Button, Group, Kbd, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useState } from 'react';
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
import { useShortcuts, useShortcutsOn } from '#console/src/parts/shortcuts.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { DecisionFields } from './decision-fields.tsx';
import {
  Conflict,
  Lists,
  MayNotDecide,
  TooLate,
  Unsatisfiable,
  useLate,
} from './decision-notes.tsx';
import { GateRules } from './gate-rules.tsx';
import { Rechecked } from './rechecked.tsx';
import { ToolCall } from './tool-call.tsx';
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
 * seconds later, so that it can be undone. Users who cannot decide see the reason. With `inbox`, the keys `a` and `r`
 * decide, and the decision is not sent when the form is left.
 */
export function DecisionForm({ inbox = false, ...decision }: DecisionProps & { inbox?: boolean }) {
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
  return (
    <>
      {call !== undefined && <ToolCall gate={gate} call={call} />}
      <GateRules gate={gate} />
      {conflict !== undefined && <Conflict {...conflict} now={call?.digest} />}
      {known.isError && data === undefined && (
        <Failure error={known.error} onRetry={() => void known.refetch()} />
      )}
      {!mayDecide ? (
        <>
          <Lists of={data} />
          <MayNotDecide />
        </>
      ) : waiting?.key === round ? (
        <Undo decision={waiting} />
      ) : refusal !== null ? (
        <>
          <Lists of={data} />
          <Dimmed>{text.refused(refusal)}</Dimmed>
        </>
      ) : (
        <Choices
          key={round}
          {...{ round, inbox, known: data, ...decision }}
          onConflict={(error) => setConflict({ error, digest: call?.digest })}
        />
      )}
    </>
  );
}

function Choices(props: ChoiceProps) {
  const { gate, known, inbox, rejection } = props;
  const decision = useDecision(props);
  const { decide, check, lists, isReady } = decision;
  const late = useLate(gate.expires_at);
  useShortcuts(inbox && !late ? { a: () => decide(true), r: () => decide(false) } : {});
  const press = (event: KeyboardEvent): void => {
    // Leaves the field, so that the single-key shortcuts work again.
    if (event.key === 'Escape') return (event.target as HTMLElement).blur();
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    // Before the editor inserts a line break.
    event.preventDefault();
    event.stopPropagation();
    decide(true);
  };
  const problem = known?.schema_problem ?? undefined;
  const unfit = isInvalid(check.error) ? check.error.detail : undefined;
  const refused = isConflict(check.error) && wasAboutOthers(decision);
  // The message about a changed call is above the form, that about changed lists above the lists.
  const above = refused || (gate.tool_call !== undefined && isConflict(check.error));
  // The fields show where.
  const inFields =
    unfit !== undefined && (gate.input_schema ?? decision.draft.edited) !== undefined;
  const [shortcutsOn] = useShortcutsOn();
  const hint = (key: string) =>
    // Hidden on small screens, which rarely have a keyboard.
    inbox &&
    shortcutsOn && (
      <Kbd size="xs" visibleFrom="sm">
        {key}
      </Kbd>
    );
  return (
    <form
      aria-label={words.decision}
      onKeyDownCapture={press}
      onSubmit={(event) => {
        event.preventDefault();
        decide(true);
      }}
    >
      <Stack gap="sm">
        {problem !== undefined && <Unsatisfiable problem={problem} />}
        <DecisionFields gate={gate} tool={known?.tool ?? null} refusal={unfit} decision={decision}>
          <Rechecked gate={gate} decision={decision} />
          {lists.shown === undefined ? (
            <Lists of={known} />
          ) : (
            <ShownListsView {...{ lists, gate, refused }} />
          )}
        </DecisionFields>
        {late && <TooLate />}
        {inFields && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {text.unfit(unfit)}
          </Text>
        )}
        {check.error !== null && !inFields && !above && <Failure error={check.error} />}
        <Dimmed size="xs">
          <strong>{text.approving}</strong> {effectOf(gate)} <strong>{text.rejecting}</strong>{' '}
          {rejectionText(gate, rejection)}
        </Dimmed>
        <Group gap="sm" className="decision-buttons">
          <Button
            type="submit"
            color="success.9"
            loading={check.isPending}
            disabled={late || !isReady || problem !== undefined}
            rightSection={hint('a')}
          >
            {text.approve}
          </Button>
          <Button
            variant="default"
            disabled={late || !isReady || check.isPending}
            rightSection={hint('r')}
            onClick={() => decide(false)}
          >
            {text.reject}
          </Button>
        </Group>
      </Stack>
    </form>
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
