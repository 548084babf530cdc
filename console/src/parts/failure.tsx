import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiError } from '../../../client/index.ts';
import { describeError, requestIdOf } from './text/describe-error.ts';

/** Whether a retry may succeed: errors with status 403 and 404 are permanent. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof ApiError) || ![403, 404].includes(error.status);

/** An error, the id of its request, and a retry button. */
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
