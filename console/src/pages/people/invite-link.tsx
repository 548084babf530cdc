import { Group, Text } from '@mantine/core';
import { Copy } from '../../parts/code/copy.tsx';

/** The URL to accept an invitation. */
export const inviteUrl = (code: string): string =>
  `${window.location.origin}/invite?code=${encodeURIComponent(code)}`;

/** The code and the link of an invitation, to share. */
export function InviteLink({ code }: { code: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="xs" c="dimmed">
        Link
      </Text>
      <Copy text={inviteUrl(code)} what="the invitation link" />
      <Text size="xs" c="dimmed">
        Code
      </Text>
      <Copy text={code} what="the invitation code" />
    </Group>
  );
}
