import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiError } from '#client/index.ts';
import { failure as text } from '#console/src/messages/en/parts/page.ts';
import { Message } from '#console/src/messages/message.tsx';
import { TextLink } from './links.tsx';
import { isOverBudget } from './text/budget-link.tsx';
import { describeError, gotNoResponse, requestIdOf } from './text/describe-error.ts';

/** Whether a retry may succeed: errors with status 403 and 404 are permanent. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof ApiError) || ![403, 404].includes(error.status);

/**
 * An error, the id of its request, and a retry button. Nothing for a read without a response, which is repeated by itself
 * while the bar above all pages says why.
 */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (onRetry !== undefined && gotNoResponse(error)) return null;
  const requestId = requestIdOf(error);
  return (
    <Alert color="danger" icon={<IconAlertTriangle size={18} />} role="alert">
      <Stack gap={6}>
        <Text size="sm">{describeError(error)}</Text>
        {isOverBudget(error) && (
          <TextLink to="/budgets" size="sm">
            {text.openBudgets}
          </TextLink>
        )}
        {(requestId !== undefined || onRetry !== undefined) && (
          <Group gap="sm">
            {onRetry !== undefined && isTransient(error) && (
              <Button size="compact-sm" variant="default" onClick={onRetry}>
                {text.again}
              </Button>
            )}
            {requestId !== undefined && (
              <Text size="xs" c="dimmed">
                <Message text={text.request} values={{ id: <Code>{requestId}</Code> }} />
              </Text>
            )}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
