import { Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { words } from '#console/src/messages/en/words.ts';
import { runList as text } from '#console/src/messages/en/runs/list.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { RunLink, ButtonLink, TextLink } from '#console/src/parts/links.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { runsQuery } from '#console/src/queries/runs.ts';
import { RunFilters } from './filters.tsx';
import { ALL_MODES, listedRuns, runFilterOf, type RunSearch } from './filter.ts';
import { SelectableRuns } from './selectable-runs.tsx';

const route = getRouteApi('/inside/runs');

/** All runs, newest first. The URL contains the filters. */
export function RunListPage() {
  const search = route.useSearch();
  const filter = listedRuns(search);
  const { parent_run_id } = filter;
  // The list stays in view until the filtered one has loaded.
  const query = useInfiniteQuery({ ...runsQuery(filter), placeholderData: keepPreviousData });
  return (
    <Page title={words.runs}>
      <RunFilters />
      {parent_run_id !== undefined && <StartedBy runId={parent_run_id} />}
      <LoadedList query={query} gap="md" empty={<NoRuns search={search} />}>
        {(runs) => <SelectableRuns key={JSON.stringify(filter)} runs={runs} filter={filter} />}
      </LoadedList>
    </Page>
  );
}

/** Shown when the list only contains the runs that one run started. */
function StartedBy({ runId }: { runId: string }) {
  return (
    <Text size="sm">
      <Message
        text={text.startedBy}
        values={{
          run: <RunLink run={runId}>{runId}</RunLink>,
        }}
      />{' '}
      <TextLink to="/runs" search={{}}>
        {text.showAll}
      </TextLink>
    </Text>
  );
}

function NoRuns({ search }: { search: RunSearch }) {
  const filter = runFilterOf(search);
  if (search.mode === ALL_MODES || JSON.stringify(filter) !== '{}') {
    return (
      <Empty title={text.noMatch.title}>
        <Text c="dimmed">{filter.q !== undefined ? text.noMatch.search : text.noMatch.filter}</Text>
        <ButtonLink variant="default" to="/runs" search={{}}>
          {text.noMatch.clear}
        </ButtonLink>
        {listedRuns(search).mode === 'live' && (
          <ButtonLink variant="default" to="/runs" search={{ ...search, mode: ALL_MODES }}>
            {text.noMatch.withRehearsals}
          </ButtonLink>
        )}
      </Empty>
    );
  }
  return (
    <Empty title={text.empty.title}>
      <Text c="dimmed">{text.empty.about}</Text>
      <ButtonLink to="/templates">{text.empty.browse}</ButtonLink>
    </Empty>
  );
}
