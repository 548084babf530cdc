import { Box, Group, Stack, Text, Title } from '@mantine/core';
import type { NodeTest } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { testResult as text } from '#console/src/messages/en/workflows/node-tests.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { RunLink } from '#console/src/parts/links.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** The step of a test: its input, and its output or error. */
export function TestResult({
  tested: { run_id: runId, status, step, error },
}: {
  tested: NodeTest;
}) {
  const problem = step?.error ?? error;
  return (
    <Box component="section" aria-label={text.title} aria-live="polite">
      <Stack gap="xs">
        <Group gap="xs">
          <StateBadge state={status} />
          {step !== null && <Text size="sm">{dollarsText(step.cost_usd)}</Text>}
          <RunLink run={runId} size="sm">
            {text.openRun}
          </RunLink>
        </Group>
        {problem !== null && (
          <Text size="sm" c="danger">
            <UserText>{problem}</UserText>
          </Text>
        )}
        {step?.input != null && (
          <Box>
            <Title order={3} size="h6">
              {words.input}
            </Title>
            <JsonView value={step.input} what={text.theInput} />
          </Box>
        )}
        {status === 'success' && (
          <Box>
            <Title order={3} size="h6">
              {words.output}
            </Title>
            <JsonView value={step?.output} what={text.theOutput} />
          </Box>
        )}
      </Stack>
    </Box>
  );
}
