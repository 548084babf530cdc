import { Alert, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Experiment } from '#client/index.ts';
import { experimentVerdict as text } from '#console/src/messages/en/workflows/experiments.ts';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { draftQuery, workflowQuery } from '#console/src/queries/workflows.ts';
import { verdictOf } from './verdict.ts';

/** Whether the candidate can be published, with what comes next. */
export function VerdictBanner({ experiment }: { experiment: Experiment }) {
  const verdict = verdictOf(experiment);
  if (verdict === undefined) return null;
  const { colour, title, notes } = verdict;
  return (
    <Alert color={colour} title={title} role="status">
      <Group justify="space-between" align="flex-end" gap="sm">
        <Text size="sm" flex="1 1 16rem">
          {notes.join(' ')}
        </Text>
        {experiment.candidate === 'draft' && (
          <DraftActions experiment={experiment} publishes={colour !== 'danger'} />
        )}
      </Group>
    </Alert>
  );
}

/** A workflow without a draft has published or discarded it. */
function DraftActions({
  experiment: { workflow_id: workflowId, created_at: at },
  publishes,
}: {
  experiment: Experiment;
  publishes: boolean;
}) {
  const mayPublish = useMay('publish_workflows');
  const mayEdit = useMay('create_edit_workflows');
  const { data: workflow } = useQuery(workflowQuery(workflowId));
  const { data: draft } = useQuery({
    ...draftQuery(workflowId),
    enabled: workflow?.has_draft === true,
  });
  if (workflow?.has_draft !== true) return null;
  return (
    <Group gap="xs">
      {draft != null && draft.saved_at > at && <Text size="sm">{text.outdated}</Text>}
      {mayEdit && (
        <ButtonLink
          to="/workflows/$workflowId/edit"
          params={{ workflowId }}
          size="compact-sm"
          variant="default"
        >
          {text.openDraft}
        </ButtonLink>
      )}
      {mayPublish && (
        <ButtonLink
          to="/workflows/$workflowId/edit"
          params={{ workflowId }}
          search={{ publish: 'draft' }}
          size="compact-sm"
          variant={publishes ? 'filled' : 'default'}
        >
          {text.publish}
        </ButtonLink>
      )}
    </Group>
  );
}
