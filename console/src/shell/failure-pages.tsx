import { Anchor, Button, Center, Stack, Text, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useRouter, Link } from '@tanstack/react-router';
import { failurePages as text } from '#console/src/messages/en/shell.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';

export function UnknownPage() {
  return (
    <Center mih="60vh">
      <Stack align="center" gap="xs">
        <Title order={1} size="h3">
          {text.notFound}
        </Title>
        <Anchor component={Link} to="/">
          {text.toOverview}
        </Anchor>
      </Stack>
    </Center>
  );
}

/** Shown without the frame: the service is unreachable at the first load. */
export const RootFailure = (props: ErrorComponentProps) => (
  <FailedView {...props} title={text.failed} />
);

/** Shown in the frame, in place of a page that has a bug. */
export const PageFailure = (props: ErrorComponentProps) => (
  <FailedView {...props} title={text.pageFailed} />
);

function FailedView({ error, reset, title }: ErrorComponentProps & { title: string }) {
  const router = useRouter();
  const again = (): void => {
    reset();
    void router.invalidate();
  };
  return (
    <Center mih="60vh" p="md">
      <Stack align="center" gap="sm" role="alert">
        <Title order={1} size="h3">
          {title}
        </Title>
        <Text c="dimmed">{describeError(error)}</Text>
        <Button onClick={again}>{text.again}</Button>
      </Stack>
    </Center>
  );
}
