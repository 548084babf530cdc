import { Stack, Text } from '@mantine/core';
import type { PendingGate, Step } from '#client/index.ts';
import { decision as decisionText, gateRules as text } from '#console/src/messages/en/gates.ts';
import { roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { Message } from '#console/src/messages/message.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { useMoment } from '#console/src/parts/text/now.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { When } from '#console/src/parts/text/time.tsx';

type GateDecision = NonNullable<PendingGate['decisions']>[number];
type StepDecision = NonNullable<Step['decision']>;

/** `2 of 3 approved`; undefined for a gate that one approval decides. */
export function progressOf({ required, decisions = [] }: PendingGate): string | undefined {
  if (required === undefined || required === 1) return undefined;
  const approved = decisions.filter((decision) => decision.approved).length;
  return text.progress(countText(approved), countText(required));
}

/**
 * What an open gate requires of its approvers: how many, who, and until when. Renders nothing for a gate without such
 * rules.
 */
export function GateRules({ gate }: { gate: PendingGate }) {
  const {
    decisions = [],
    approvers,
    not_the_starter,
    signed_in,
    act_as,
    expires_at,
    on_timeout,
  } = gate;
  const progress = progressOf(gate);
  const shown = [progress, approvers, not_the_starter, signed_in, expires_at].some(
    (each) => each !== undefined,
  );
  if (!shown) return null;
  return (
    <Stack gap={2} role="group" aria-label={text.label}>
      {progress !== undefined && (
        <Text size="sm" fw={600} role="status">
          {progress}
        </Text>
      )}
      <Decisions decisions={decisions} />
      {approvers !== undefined && <Approvers approvers={approvers} />}
      {not_the_starter === true && <Text size="sm">{text.notTheStarter}</Text>}
      {signed_in === true && <Text size="sm">{text.signedIn}</Text>}
      {act_as === 'approver' && <Text size="sm">{text.actAs}</Text>}
      <Deciders gate={gate} />
      {expires_at !== undefined && on_timeout !== undefined && (
        <Deadline at={expires_at} then={on_timeout} />
      )}
    </Stack>
  );
}

/** Deadlines closer than this are marked. */
const SOON_MS = 600_000;

/** The remaining time, and what happens afterward. */
function Deadline({ at, then }: { at: string; then: NonNullable<PendingGate['on_timeout']> }) {
  const left = Date.parse(at) - useMoment(true);
  return (
    <Text size="sm" c={left < SOON_MS ? 'var(--mantine-color-error)' : undefined}>
      {left > 0 ? (
        <Message
          text={text.deadline[then]}
          values={{ left: durationText(Math.ceil(left / 1_000) * 1_000), at: <When at={at} /> }}
        />
      ) : (
        <Message text={text.deadlinePassed[then]} values={{ at: <When at={at} /> }} />
      )}
    </Text>
  );
}

/** Warns when the approvers that a gate requires are no longer available. */
function Deciders({ gate }: { gate: PendingGate }) {
  const { deciders, admins_stand_in, required = 1, decisions = [] } = gate;
  if (deciders === undefined) return null;
  const missing = required - decisions.length;
  return (
    <>
      {admins_stand_in === true && <Text size="sm">{text.adminsStandIn}</Text>}
      {deciders < missing && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {deciders === 0
            ? text.noDecider
            : text.fewDeciders(countText(deciders), countText(missing))}{' '}
          {text.giveAnother}
        </Text>
      )}
    </>
  );
}

function Approvers({ approvers }: { approvers: NonNullable<PendingGate['approvers']> }) {
  const { roles = [], members = [] } = approvers;
  const list = [
    ...roles.map((role) => ({ key: role, name: text.role(roleNamesInText[role]) })),
    ...members.map(named),
  ].map(({ key, name }, at) => (
    <span key={key}>
      {at > 0 && ', '}
      <UserText>{name}</UserText>
    </span>
  ));
  return (
    <Text size="sm">
      <Message text={text.approvers} values={{ approvers: list }} />
    </Text>
  );
}

const named = ({ id, name }: { id: string; name: string | null }) => ({
  key: id,
  name: name ?? text.removed(id),
});

/** The members' decisions at a gate, oldest first. */
export const Decisions = ({ decisions }: { decisions: readonly GateDecision[] }) =>
  decisions.map((decision) => (
    <Text size="sm" key={`${decision.member_id} ${decision.at}`}>
      <DecisionText decision={decision} />
    </Text>
  ));

/** `Approved by Ann, 5 minutes ago: looks good`. For a decision by a deadline, the deadline replaces the person. */
export function DecisionText({
  decision: { approved, by, by_link: byLink, by_slack: bySlack, at, reason, timed_out: timedOut },
  ago = false,
}: {
  decision: Pick<
    StepDecision,
    'approved' | 'by' | 'by_link' | 'by_slack' | 'at' | 'reason' | 'timed_out'
  >;
  ago?: boolean;
}) {
  const when = <When at={at} ago={ago} />;
  const decided =
    timedOut === undefined ? (
      <Message
        text={approved ? decisionText.approvedBy : decisionText.rejectedBy}
        values={{ by: <ByText by={by} byLink={byLink} bySlack={bySlack} />, at: when }}
      />
    ) : (
      <Message
        text={approved ? decisionText.approvedAtDeadline : decisionText.rejectedAtDeadline}
        values={{ at: when }}
      />
    );
  if (reason === null) return decided;
  return <Message text={decisionText.withReason} values={{ decision: decided, reason }} />;
}

/** The person who decided, or what else decided. */
export const ByText = ({
  by,
  byLink,
  bySlack,
}: {
  by: string | null;
  byLink?: true | undefined;
  bySlack?: true | undefined;
}) => {
  const name = by === null ? decisionText.apiKey : <UserText>{by}</UserText>;
  if (bySlack === true) return <Message text={decisionText.bySlack} values={{ by: name }} />;
  return byLink === true ? <Message text={decisionText.byLink} values={{ by: name }} /> : name;
};
