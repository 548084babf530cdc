import { Group, Stack, Text } from '@mantine/core';
import type { Run } from '../../../../client/index.ts';
import { TextLink } from '../../parts/links.tsx';
import { Section } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { stepName } from './node-states.ts';

/** A map can start thousands. */
const MOST = 10;

/** The runs that the steps of this run started. */
export function ChildRuns({ run }: { run: Run }) {
  const children = run.steps.filter(({ child_run_id }) => child_run_id !== undefined);
  if (children.length === 0) return null;
  return (
    <Section title="Child runs">
      <Stack gap="xs">
        {children.slice(0, MOST).map((step) => (
          <Group key={step.step_key} gap="xs">
            <StateBadge state={step.paused_child === true ? 'paused' : step.status} />
            <Text size="sm">
              <UserText>{stepName(step)}</UserText>
            </Text>
            <TextLink to="/runs/$runId" params={{ runId: step.child_run_id ?? '' }} size="sm">
              {step.child_run_id}
            </TextLink>
          </Group>
        ))}
        {children.length > MOST && (
          <TextLink to="/runs" search={{ parent_run_id: run.id }} size="sm">
            View all child runs
          </TextLink>
        )}
      </Stack>
    </Section>
  );
}
