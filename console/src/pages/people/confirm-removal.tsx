import type { Member } from '#client/index.ts';
import { removalTexts } from '#console/src/messages/en/people/members.ts';
import { Message } from '#console/src/messages/message.tsx';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** Asks for confirmation before removing a member, revoking an invitation or rejecting a sign-up. */
export function confirmRemoval(member: Member, onConfirm: () => void): void {
  const text = removalTexts[member.status];
  confirm({
    title: text.title,
    consequence: (
      <Message text={text.consequence} values={{ name: <UserText>{member.name}</UserText> }} />
    ),
    confirm: text.confirm,
    onConfirm,
  });
}
