import { Group } from '@mantine/core';
import { inviteLink as texts } from '#console/src/messages/en/people/invitations.ts';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The URL to accept an invitation. */
export const inviteUrl = (code: string): string =>
  `${window.location.origin}/invite?code=${encodeURIComponent(code)}`;

/** The code and the link of an invitation, to share. */
export function InviteLink({ code }: { code: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Dimmed size="xs">{texts.link}</Dimmed>
      <Copy text={inviteUrl(code)} what={texts.whatLink} />
      <Dimmed size="xs">{texts.code}</Dimmed>
      <Copy text={code} what={texts.whatCode} />
    </Group>
  );
}
