import type { Member } from '../../../../client/index.ts';
import { confirm } from '../../parts/confirm.tsx';
import { UserText } from '../../parts/user-text.tsx';

/** Asks before a member goes, an invitation is withdrawn or a sign-up is refused. */
export function confirmRemoval(member: Member, verb: string, onConfirm: () => void): void {
  const name = <UserText>{member.name}</UserText>;
  const consequences = {
    active: (
      <>
        {name} is signed out at once, and the API keys linked to them are revoked. Their name stays
        in the audit log.
      </>
    ),
    invited: <>The invitation of {name} no longer works.</>,
    pending: <>{name} is not let in. They can ask again.</>,
  };
  confirm({
    title: `${verb} this member?`,
    consequence: consequences[member.status],
    confirmLabel: verb,
    onConfirm,
  });
}
