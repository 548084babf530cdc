import { Badge, Button, Group, Table, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Workflow } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import {
  workflowList as text,
  workflowStates,
} from '#console/src/messages/en/workflows/workflow-list.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { WorkflowLink, ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { countText, dollarsText, percentText } from '#console/src/parts/text/numbers.ts';
import { Page } from '#console/src/parts/page.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { CreateWorkflow } from './create-workflow.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

const READ_EVERY_MS = 10_000;
const SHOWN_AT_FIRST = 100;

/** All workflows of the workspace with the results of their runs. */
export function WorkflowListPage() {
  const query = useQuery({ ...workflowsQuery, refetchInterval: READ_EVERY_MS });
  const { q } = useSearch({ from: '/inside/workflows' });
  const navigate = useNavigate();
  const mayEdit = useMay('create_edit_workflows');
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title={words.workflows}
      about={text.about}
      actions={mayEdit && <NewButton onClick={() => setCreating(true)}>{text.new}</NewButton>}
    >
      <CreateWorkflow opened={creating} onClose={() => setCreating(false)} />
      <Loaded query={query}>
        {(workflows) =>
          workflows.length === 0 ? (
            <NoWorkflows mayEdit={mayEdit} />
          ) : (
            <>
              <TextInput
                label={words.search}
                placeholder={text.searchIn}
                leftSection={<IconSearch size={16} aria-hidden />}
                maw={360}
                value={q ?? ''}
                onChange={(event) =>
                  void navigate({
                    to: '/workflows',
                    search: { q: event.currentTarget.value || undefined },
                    replace: true,
                  })
                }
              />
              <WorkflowTable workflows={found(workflows, q)} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function NoWorkflows({ mayEdit }: { mayEdit: boolean }) {
  return (
    <Empty {...text.empty} missing={!mayEdit && 'create_edit_workflows'}>
      <ButtonLink to="/templates" variant="default">
        {text.empty.browseTemplates}
      </ButtonLink>
    </Empty>
  );
}

function found(workflows: readonly Workflow[], q: string | undefined): Workflow[] {
  const word = (q ?? '').trim().toLowerCase();
  return workflows.filter(({ name, description, id }) =>
    [name, description, id].some((each) => each.toLowerCase().includes(word)),
  );
}

function WorkflowTable({ workflows }: { workflows: readonly Workflow[] }) {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  if (workflows.length === 0) {
    return <Empty {...text.noMatch} />;
  }
  return (
    <>
      <RowTable
        label={words.workflows}
        minWidth={820}
        columns={[
          words.workflow,
          words.status,
          { label: words.runs, numbers: true },
          { label: text.successRate, numbers: true },
          { label: text.averageCost, numbers: true },
          { label: text.averageDuration, numbers: true },
          words.lastRun,
        ]}
      >
        {workflows.slice(0, shown).map((workflow) => (
          <WorkflowRow key={workflow.id} workflow={workflow} />
        ))}
      </RowTable>
      {workflows.length > shown && (
        <Group justify="center">
          <Button variant="default" onClick={() => setShown(shown + SHOWN_AT_FIRST)}>
            {words.showMore}
          </Button>
        </Group>
      )}
    </>
  );
}

function WorkflowRow({
  workflow: { id, name, description, stats, status },
}: {
  workflow: Workflow;
}) {
  const finished = stats.success + stats.failed;
  return (
    <Row>
      <Table.Td maw={420}>
        <WorkflowLink workflow={id}>
          <UserText>{name}</UserText>
        </WorkflowLink>
        {description !== '' && (
          <Text size="xs" c="dimmed" lineClamp={1}>
            <UserText>{description}</UserText>
          </Text>
        )}
      </Table.Td>
      <WorkflowState status={status} />
      <Table.Td className="numbers">{countText(stats.total)}</Table.Td>
      <Table.Td className="numbers">
        {finished === 0 ? '–' : percentText(stats.success_rate)}
      </Table.Td>
      <Table.Td className="numbers">
        {stats.avg_cost_usd === null ? '–' : dollarsText(stats.avg_cost_usd)}
      </Table.Td>
      <Table.Td className="numbers">
        {stats.avg_duration_ms === null ? '–' : durationText(stats.avg_duration_ms)}
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        {stats.last_run_at === null ? text.neverRun : <When at={stats.last_run_at} ago />}
      </Table.Td>
    </Row>
  );
}

/** A badge that shows whether a workflow is published. */
export function WorkflowState({ status }: { status: Workflow['status'] }) {
  return (
    <Badge
      variant="light"
      c="bright"
      tt="none"
      flex="none"
      miw="max-content"
      color={status === 'published' ? 'success' : 'gray'}
    >
      {workflowStates[status]}
    </Badge>
  );
}
