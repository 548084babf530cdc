import { Button, Center, Group, Paper, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { product } from '#console/src/messages/en/parts/page.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { Logo } from '#console/src/parts/logo.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The frame of the pages before sign-in. */
export function SignInFrame({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  useDocumentTitle(product.titleOf(title));
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p={{ base: 'lg', sm: 'xl' }} w="100%" maw={440}>
        <Stack gap="md">
          <Group gap="xs" fw={600}>
            <Logo size={32} />
            {product.name}
          </Group>
          <div>
            <Title order={1} size="h3">
              {title}
            </Title>
            {about !== undefined && <Dimmed>{about}</Dimmed>}
          </div>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

/** The form of such a page: its fields, the error of its request, and its button. */
export function SignInForm({
  label,
  submit,
  action,
  children,
}: {
  label: string;
  submit: string;
  action: { isPending: boolean; error: Error | null; mutate: (input: undefined) => void };
  children: ReactNode;
}) {
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        action.mutate(undefined);
      }}
    >
      <Stack gap="md">
        {children}
        {action.error !== null && <Failure error={action.error} />}
        <Button type="submit" loading={action.isPending}>
          {submit}
        </Button>
      </Stack>
    </form>
  );
}
