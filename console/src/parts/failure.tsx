import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiError } from '../../../client/index.ts';
import { describeError, requestIdOf } from './text/describe-error.ts';

/** What is not there, or not permitted, is so at the next try as well. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof ApiError) || ![403, 404].includes(error.status);

/** What could not be read or done, why, and the way to try again. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const requestId = requestIdOf(error);
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} role="alert">
      <Stack gap={6}>
        <Text size="sm">{describeError(error)}</Text>
        {(requestId !== undefined || onRetry !== undefined) && (
          <Group gap="sm">
            {onRetry !== undefined && mayPass(error) && (
              <Button size="compact-sm" variant="default" onClick={onRetry}>
                Try again
              </Button>
            )}
            {requestId !== undefined && (
              <Text size="xs" c="dimmed">
                Request <Code>{requestId}</Code>
              </Text>
            )}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
