import { Group, Select, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { RunSummary } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { LoadMore } from '../../parts/data/load-more.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { dollarsText } from '../../parts/text/numbers.ts';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { durationText } from '../../parts/text/duration.ts';
import { When } from '../../parts/text/time.tsx';
import { runsQuery } from '../../queries/runs.ts';
import { workflowsQuery } from '../../queries/workflows.ts';
import { sentenceCase } from '../../parts/text/sentence-case.ts';
import { runStatuses, triggers } from '../../../../shared/run-kinds.ts';

const route = getRouteApi('/inside/runs');

/** All runs, newest first. The URL contains the filters. */
export function RunListPage() {
  const { status, trigger, workflow_id, parent_run_id } = route.useSearch();
  const filter = {
    status: runStatuses.find((each) => each === status),
    trigger: triggers.find((each) => each === trigger),
    workflow_id,
    parent_run_id,
  };
  const query = useInfiniteQuery(runsQuery(filter));
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Page title="Runs">
      <Filters />
      {parent_run_id !== undefined && <StartedBy runId={parent_run_id} />}
      <Loaded query={query}>
        {({ pages }) => {
          const runs = pages.flatMap((page) => page.runs);
          return runs.length === 0 ? (
            <NoRuns filtered={filtered} />
          ) : (
            <Stack gap="md">
              <RunTable runs={runs} />
              <LoadMore query={query} />
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

/** The list shows only the runs that one run started. */
function StartedBy({ runId }: { runId: string }) {
  return (
    <Text size="sm">
      Started by{' '}
      <TextLink to="/runs/$runId" params={{ runId }}>
        {runId}
      </TextLink>
      .{' '}
      <TextLink to="/runs" search={{}}>
        Show all runs
      </TextLink>
    </Text>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflows } = useQuery(workflowsQuery);
  const names = useMemo(
    () => (workflows ?? []).map(({ id, name }) => ({ value: id, label: name })),
    [workflows],
  );
  const set = (name: keyof typeof search) => (value: string | null) =>
    void navigate({
      search: (before) => ({ ...before, [name]: value ?? undefined }),
      replace: true,
    });
  return (
    <Group gap="sm" component="search">
      <Select
        label="Status"
        placeholder="Any"
        clearable
        data={runStatuses.map((value) => ({ value, label: sentenceCase(value) }))}
        value={search.status ?? null}
        onChange={set('status')}
        w={150}
      />
      <Select
        label="Started by"
        placeholder="Any"
        clearable
        data={[...triggers]}
        value={search.trigger ?? null}
        onChange={set('trigger')}
        w={150}
      />
      <Select
        label="Workflow"
        placeholder="Any"
        clearable
        searchable
        data={names}
        value={search.workflow_id ?? null}
        onChange={set('workflow_id')}
        w={240}
      />
    </Group>
  );
}

function NoRuns({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="No matching runs">
        <ButtonLink variant="default" to="/runs" search={{}}>
          Clear filters
        </ButtonLink>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      <Text c="dimmed">Start from a template: it runs without any setup.</Text>
      <ButtonLink to="/templates">Browse templates</ButtonLink>
    </Empty>
  );
}

function RunTable({ runs }: { runs: readonly RunSummary[] }) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table aria-label="Runs, newest first" verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Run</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Started by</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th className="numbers">Duration</Table.Th>
            <Table.Th className="numbers">Cost</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function RunRow({ run }: { run: RunSummary }) {
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/runs/$runId" params={{ runId: run.id }} fw={600}>
          <UserText>{run.workflow_name}</UserText>{' '}
          <Text span display="block" size="xs" c="dimmed" className="pre">
            {run.id}
          </Text>
        </TextLink>
      </Table.Td>
      <Table.Td maw={280}>
        <StateBadge state={run.status} />
        {run.error !== null && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            <UserText>{run.error}</UserText>
          </Text>
        )}
      </Table.Td>
      <Table.Td>{run.trigger}</Table.Td>
      <Table.Td>
        <When at={run.created_at} ago />
      </Table.Td>
      <Table.Td className="numbers">{durationText(run.duration_ms)}</Table.Td>
      <Table.Td className="numbers">{dollarsText(run.cost_usd)}</Table.Td>
    </Table.Tr>
  );
}
