import { Stack, Text } from '@mantine/core';
import type { PendingGate, Step } from '../../../../client/index.ts';
import { UserText } from '../text/user-text.tsx';
import { When } from '../text/time.tsx';

type GateDecision = NonNullable<PendingGate['decisions']>[number];

/** `2 of 3 approved`; undefined for a gate that one approval decides. */
export function progressOf({ required, decisions = [] }: PendingGate): string | undefined {
  if (required === undefined || required === 1) return undefined;
  return `${decisions.filter(({ approved }) => approved).length} of ${required} approved`;
}

/** What an open gate asks of its approvers: how many, who, until when. Nothing for a gate without such rules. */
export function GateRules({ gate }: { gate: PendingGate }) {
  const { decisions = [], approvers, not_the_starter, expires_at, on_timeout } = gate;
  const progress = progressOf(gate);
  const shown = [progress, approvers, not_the_starter, expires_at].some(
    (each) => each !== undefined,
  );
  if (!shown) return null;
  return (
    <Stack gap={2} role="group" aria-label="Approval rules">
      {progress !== undefined && (
        <Text size="sm" fw={600} role="status">
          {progress}
        </Text>
      )}
      <Decisions decisions={decisions} />
      {approvers !== undefined && <Approvers approvers={approvers} />}
      {not_the_starter === true && (
        <Text size="sm">The member who started the run cannot decide.</Text>
      )}
      {expires_at !== undefined && on_timeout !== undefined && (
        <Text size="sm">
          Deadline <When at={expires_at} />, then the {timeoutTexts[on_timeout]}.
        </Text>
      )}
    </Stack>
  );
}

const timeoutTexts = {
  approve: 'gate is approved',
  reject: 'gate is rejected',
  fail: 'run fails',
} as const satisfies Record<NonNullable<PendingGate['on_timeout']>, string>;

function Approvers({ approvers }: { approvers: NonNullable<PendingGate['approvers']> }) {
  const { roles = [], members = [] } = approvers;
  return (
    <Text size="sm">
      Can be decided by:{' '}
      {[...roles.map((role) => ({ key: role, name: `role ${role}` })), ...members.map(named)].map(
        ({ key, name }, at) => (
          <span key={key}>
            {at > 0 && ', '}
            <UserText>{name}</UserText>
          </span>
        ),
      )}
    </Text>
  );
}

const named = ({ id, name }: { id: string; name: string | null }) => ({
  key: id,
  name: name ?? `${id} (removed)`,
});

/** Who has decided what at a gate, oldest first. */
export const Decisions = ({ decisions }: { decisions: readonly GateDecision[] }) =>
  decisions.map(({ member_id, by, approved, at, reason }) => (
    <Text size="sm" key={`${member_id} ${at}`}>
      {approved ? 'Approved' : 'Rejected'} by <UserText>{by ?? 'an API key'}</UserText>,{' '}
      <When at={at} />
      {reason !== null && (
        <>
          : <UserText>{reason}</UserText>
        </>
      )}
    </Text>
  ));

/** `Approved by Ann`, without the time. A decision by a deadline names it instead of a person. */
export function DeciderText({ decision }: { decision: NonNullable<Step['decision']> }) {
  const { by, timed_out: timedOut } = decision;
  if (timedOut !== undefined) return <>at its deadline</>;
  return <>by {by === null ? 'an API key' : <UserText>{by}</UserText>}</>;
}
