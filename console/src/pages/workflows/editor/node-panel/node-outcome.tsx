import { Box, Group, Text } from '@mantine/core';
import type { Run, Step } from '#client/index.ts';
import { runPanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { RunLink } from '#console/src/parts/links.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { shownState } from '#console/src/pages/runs/steps/step-state.ts';

/** How the selected node ended in the run whose values are shown. */
export function NodeOutcome({ run, step }: { run: Run | undefined; step: Step | undefined }) {
  if (run === undefined || step === undefined) return null;
  return (
    <Box component="section" aria-label={text.ofNode}>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {text.ofRun}
        </Text>
        <StateBadge state={shownState(step)} size="sm" />
        {step.cost_usd > 0 && <Text size="sm">{dollarsText(step.cost_usd)}</Text>}
        <RunLink run={run.id} step={step.step_key} size="sm">
          {text.openStep}
        </RunLink>
      </Group>
      {step.error != null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          <UserText>{step.error}</UserText>
        </Text>
      )}
    </Box>
  );
}
