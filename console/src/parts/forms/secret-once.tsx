import { Alert, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { Snippet } from '../code/snippet.tsx';

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
        <Alert color="yellow">Copy this secret now. You will not be able to see it again.</Alert>
        <Snippet text={secret} what="the secret" />
        {use !== undefined && (
          <>
            <Text size="sm">Example:</Text>
            <Snippet text={use} what="the command" />
          </>
        )}
      </Stack>
    ),
  });
}
