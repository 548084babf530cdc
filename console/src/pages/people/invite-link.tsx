import { Group, Text } from '@mantine/core';
import { inviteLink as texts } from '#console/src/messages/en/people/invitations.ts';
import { Copy } from '#console/src/parts/code/copy.tsx';

/** The URL to accept an invitation. */
export const inviteUrl = (code: string): string =>
  `${window.location.origin}/invite?code=${encodeURIComponent(code)}`;

/** The code and the link of an invitation, to share. */
export function InviteLink({ code }: { code: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="xs" c="dimmed">
        {texts.link}
      </Text>
      <Copy text={inviteUrl(code)} what={texts.whatLink} />
      <Text size="xs" c="dimmed">
        {texts.code}
      </Text>
      <Copy text={code} what={texts.whatCode} />
    </Group>
  );
}
