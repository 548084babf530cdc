import { Alert, Stack } from '@mantine/core';
import type { PendingGate } from '#client/index.ts';
import { listChanges, liveLists as text } from '#console/src/messages/en/consequences.ts';
import { decision as decisionText } from '#console/src/messages/en/gates.ts';
import { Message } from '#console/src/messages/message.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { ConsequenceLists } from './consequences.tsx';
import type { ShownLists } from './use-shown.ts';

/** The lists that an approver decides about: how they relate to the input, what is marked in them, and what that means. */
export function ShownListsView({
  lists,
  gate,
  refused,
}: {
  lists: ShownLists;
  gate: PendingGate;
  /** Whether the last decision was refused because the lists had changed. */
  refused: boolean;
}) {
  const { shown, plain, reference, isChangedByInput } = lists;
  if (shown === undefined) return null;
  return (
    <Stack gap="xs">
      {refused && (
        <Alert color="danger" role="alert">
          {text.stale}
        </Alert>
      )}
      {isChangedByInput && <Withdraws gate={gate} />}
      <Notes lists={lists} />
      <ConsequenceLists
        kind={gate.kind}
        shown={shown.consequences}
        plain={plain?.consequences}
        before={reference?.consequences}
      />
    </Stack>
  );
}

function Notes({ lists: { note, isStale, isChangedByInput } }: { lists: ShownLists }) {
  const marks = isStale
    ? isChangedByInput
      ? listChanges.sinceReadAndByInput
      : listChanges.sinceRead
    : isChangedByInput
      ? listChanges.byInput
      : undefined;
  const about = note && noteText(note);
  return (
    <div role="status">
      {about !== undefined && <Dimmed size="xs">{about}</Dimmed>}
      {marks !== undefined && (
        <Dimmed size="xs" fw={600}>
          {marks}
        </Dimmed>
      )}
    </div>
  );
}

const noteText = (note: NonNullable<ShownLists['note']>): string =>
  'error' in note ? text[note.kind](describeError(note.error)) : text[note.kind];

/** With several approvers: earlier approvals were for other lists. */
function Withdraws({ gate: { required = 1, decisions = [] } }: { gate: PendingGate }) {
  const approvals = decisions.filter(({ approved }) => approved);
  if (required === 1 || approvals.length === 0) return null;
  const names = approvals.map(({ by }) => by ?? decisionText.apiKey).join(', ');
  return (
    <Alert color="warning" role="alert">
      <Message text={text.withdraws(approvals.length)} values={{ names }} />
    </Alert>
  );
}
