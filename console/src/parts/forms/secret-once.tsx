import { Alert, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { secretOnce as text } from '#console/src/messages/en/parts/fields.ts';
import { Snippet } from '#console/src/parts/code/snippet.tsx';

/** Shows a secret that cannot be read again. Only the close button closes it, so that a stray click cannot lose it. */
export function showSecretOnce({
  title,
  secret,
  use,
}: {
  title: string;
  secret: string;
  use?: string;
}): void {
  modals.open({
    title,
    closeOnClickOutside: false,
    closeOnEscape: false,
    children: (
      <Stack gap="sm">
        <Alert color="warning">{text.copyNow}</Alert>
        <Snippet text={secret} what={text.secret} />
        {use !== undefined && (
          <>
            <Text size="sm">{text.example}</Text>
            <Snippet text={use} what={text.command} />
          </>
        )}
      </Stack>
    ),
  });
}
