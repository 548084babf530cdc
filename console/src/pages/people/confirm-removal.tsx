import type { Member } from '../../../../client/index.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { UserText } from '../../parts/text/user-text.tsx';

/** Words for the removal of a member, by status. */
export const removalTexts = {
  active: { verb: 'Remove', noun: 'member', done: 'Member removed' },
  invited: { verb: 'Revoke', noun: 'invitation', done: 'Invitation revoked' },
  pending: { verb: 'Reject', noun: 'request', done: 'Request rejected' },
} as const satisfies Record<Member['status'], object>;

/** Asks before removing a member, revoking an invitation or rejecting a sign-up. */
export function confirmRemoval(member: Member, onConfirm: () => void): void {
  const { verb, noun } = removalTexts[member.status];
  const name = <UserText>{member.name}</UserText>;
  const consequences = {
    active: (
      <>
        This signs {name} out immediately and revokes the API keys linked to them. Their name stays
        in the audit log.
      </>
    ),
    invited: <>The invitation for {name} stops working.</>,
    pending: <>This rejects the request of {name}. They can sign up again.</>,
  };
  confirm({
    title: `${verb} this ${noun}?`,
    consequence: consequences[member.status],
    confirmLabel: `${verb} ${noun}`,
    onConfirm,
  });
}
