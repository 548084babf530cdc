import { Alert, Box, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { run as text } from '#console/src/messages/en/runs/run.ts';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { ActionHints } from './actions/run-actions.tsx';
import { type Items, placeInItems } from './items.ts';
import type { Selection } from './use-selection.ts';

/** Runs that a person or a budget stopped have not failed by themselves, so a change of the graph does not mend them. */
const stops: Partial<Record<string, { colour: string; title: string }>> = {
  cancelled: { colour: 'gray', title: text.cancelled },
  budget: { colour: 'caution', title: text.overBudget },
};

/** Why the run ended before its end, where, and what leads on from there. */
export function RunError({
  run,
  items,
  failing,
  chosen,
  select,
}: {
  run: Run;
  items: Items | undefined;
  /** The key of the step where the run failed. */
  failing: string | undefined;
  chosen: string | undefined;
  select: Selection['select'];
}) {
  const mayEdit = useMay('create_edit_workflows');
  if (run.error === null) return null;
  const step = run.steps.find(({ step_key }) => step_key === failing);
  const place = step && items && placeInItems(step, items);
  const stopped = stops[run.failure?.kind ?? ''];
  const { colour, title } = stopped ?? { colour: 'danger', title: text.failed };
  return (
    <Alert
      className="run-error"
      color={colour}
      icon={<IconAlertTriangle size={18} aria-hidden />}
      // A title that the error begins with would say the same twice.
      title={
        place !== undefined
          ? text.failedAt(title, step?.label ?? '', place)
          : !run.error.startsWith(title) && title
      }
    >
      <Group justify="space-between" align="flex-end" gap="xs">
        <Box flex="1 1 16rem" miw={0}>
          <Text
            size="sm"
            className="pre run-error-text"
            role="group"
            aria-label={text.errorText}
            tabIndex={0}
          >
            <UserText>{run.error}</UserText>
          </Text>
          <ActionHints run={run} />
        </Box>
        {failing !== undefined && (
          <Group gap="xs">
            {chosen !== failing && (
              <Button size="compact-sm" variant="default" onClick={() => select(failing)}>
                {text.showFailed}
              </Button>
            )}
            {mayEdit && stopped === undefined && (
              <ButtonLink
                to="/workflows/$workflowId/edit"
                params={{ workflowId: run.workflow_id }}
                search={{ node: step?.node_id, run: run.id, step: failing }}
                size="compact-sm"
                variant="default"
              >
                {text.fix}
              </ButtonLink>
            )}
          </Group>
        )}
      </Group>
    </Alert>
  );
}
