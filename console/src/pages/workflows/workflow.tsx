import { Badge, Group, Tabs, Text } from '@mantine/core';
import { IconPencil, IconPlayerPlay, IconRocket } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { workflowPage as text } from '#console/src/messages/en/workflows/workflow.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { gotNoResponse } from '#console/src/parts/text/describe-error.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowQuery, workflowsKey } from '#console/src/queries/workflows.ts';
import { ChecksTab } from './checks/checks-tab.tsx';
import { ExperimentsTab } from '#console/src/pages/experiments/experiments-tab.tsx';
import { GraphTab } from './graph-tab.tsx';
import { RunDialog } from './run-dialog.tsx';
import { RunsTab } from './runs-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { BlockableButton } from './mistakes/blockable-button.tsx';
import { runErrors } from './mistakes/mistakes.ts';
import { useVersionMistakes } from './mistakes/use-mistakes.ts';
import { TriggersTab } from '#console/src/pages/inbound/triggers-tab.tsx';
import { VersionsTab } from './versions/versions-tab.tsx';
import { WorkflowState } from './workflow-list.tsx';

const READ_EVERY_MS = 10_000;

const tabs: readonly { id: string; label: string; show: (workflow: Workflow) => ReactNode }[] = [
  { id: 'graph', label: text.tabs.graph, show: (workflow) => <GraphTab workflow={workflow} /> },
  { id: 'runs', label: text.tabs.runs, show: (workflow) => <RunsTab workflow={workflow} /> },
  {
    id: 'versions',
    label: text.tabs.versions,
    show: (workflow) => <VersionsTab workflow={workflow} />,
  },
  {
    id: 'experiments',
    label: text.tabs.experiments,
    show: (workflow) => <ExperimentsTab workflow={workflow} />,
  },
  {
    id: 'triggers',
    label: text.tabs.triggers,
    show: (workflow) => <TriggersTab workflow={workflow} />,
  },
  { id: 'checks', label: text.tabs.checks, show: (workflow) => <ChecksTab workflow={workflow} /> },
  {
    id: 'settings',
    label: text.tabs.settings,
    show: (workflow) => <SettingsTab workflow={workflow} />,
  },
];

/** One workflow: its graph, its runs and its triggers. */
export function WorkflowPage() {
  const { workflowId } = useParams({ from: '/inside/workflows/$workflowId' });
  const query = useQuery({ ...workflowQuery(workflowId), refetchInterval: READ_EVERY_MS });
  if (query.data === undefined && query.error !== null && !gotNoResponse(query.error)) {
    return (
      <Page title={words.workflow}>
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      </Page>
    );
  }
  return (
    <Loaded query={query} loading={<LoadingPage />}>
      {(workflow) => <OneWorkflow key={workflow.id} workflow={workflow} />}
    </Loaded>
  );
}

function OneWorkflow({ workflow }: { workflow: Workflow }) {
  const { id, name, description, status, version } = workflow;
  const { tab } = useSearch({ from: '/inside/workflows/$workflowId' });
  const navigate = useNavigate();
  const shown = tabs.find((each) => each.id === tab) ?? tabs[0]!;
  return (
    <Page
      title={name}
      about={
        <>
          {description !== '' && (
            <Text size="sm" mb={4} maw="48rem">
              <UserText>{description}</UserText>
            </Text>
          )}
          <Group gap="xs">
            <WorkflowState status={status} />
            <Badge variant="default" tt="none">
              {text.version(String(version))}
            </Badge>
          </Group>
        </>
      }
      actions={<WorkflowActions workflow={workflow} />}
      // In every tab, so that the tabs stay in place.
      wide
    >
      <Tabs
        value={shown.id}
        keepMounted={false}
        onChange={(next) =>
          void navigate({
            to: '/workflows/$workflowId',
            params: { workflowId: id },
            search: { tab: next === 'graph' ? undefined : (next ?? undefined) },
          })
        }
      >
        <Tabs.List mb="md">
          {tabs.map((each) => (
            <Tabs.Tab key={each.id} value={each.id}>
              {each.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((each) => (
          <Tabs.Panel key={each.id} value={each.id}>
            {each.show(workflow)}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

function WorkflowActions({ workflow }: { workflow: Workflow }) {
  const mayRun = useMay('run_workflows');
  const mayEdit = useMay('create_edit_workflows');
  const mayPublish = useMay('publish_workflows');
  const { run } = useSearch({ from: '/inside/workflows/$workflowId' });
  const navigate = useNavigate({ from: '/workflows/$workflowId' });
  const setRunning = (opened: boolean): void =>
    void navigate({ search: (before) => ({ ...before, run: opened || undefined }), replace: true });
  const checked = useVersionMistakes(workflow);
  const reason = runErrors(checked.mistakes)[0]?.message;
  const publish = useAction(() => api().publishWorkflow(workflow.id, { ifMatch: workflow.etag }), {
    changes: [workflowsKey],
    done: text.published,
  });
  return (
    <>
      {mayEdit && (
        <ButtonLink
          to="/workflows/$workflowId/edit"
          params={{ workflowId: workflow.id }}
          variant="default"
          leftSection={<IconPencil size={16} aria-hidden />}
        >
          {words.edit}
        </ButtonLink>
      )}
      {mayPublish && workflow.status === 'draft' && (
        <ActionButton action={publish} leftSection={<IconRocket size={16} aria-hidden />}>
          {text.publish}
        </ActionButton>
      )}
      {mayRun && (
        <BlockableButton
          reason={reason}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => setRunning(true)}
        >
          {words.run}
        </BlockableButton>
      )}
      <RunDialog
        workflow={workflow}
        opened={run === true && mayRun && reason === undefined}
        onClose={() => setRunning(false)}
      />
    </>
  );
}
