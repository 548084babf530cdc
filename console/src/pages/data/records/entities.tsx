import { Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { entitiesQuery, type RecordFilter } from '../../../queries/data.ts';
import { InfiniteList } from '../infinite-list.tsx';
import { RecordFilters } from './record-filters.tsx';
import { RecordTable } from './record-table.tsx';
import type { RecordSearch } from './search.ts';

/** The records of all feeds, newest first, filtered by the URL. */
export function EntitiesPage() {
  const search = useSearch({ from: '/inside/data/entities' });
  const navigate = useNavigate({ from: '/data/entities' });
  const records = useInfiniteQuery(entitiesQuery(filterOf(search)));
  const narrow = (by: Partial<RecordSearch>): void =>
    void navigate({ search: { ...search, ...by }, replace: true });
  const narrowed = Object.values<unknown>(search).some((value) => value !== undefined);
  return (
    <Page
      title="Records"
      about="Records of all feeds, newest first. Reading them here costs no credits."
      wide
    >
      <RecordFilters search={search} onChange={narrow} />
      <Loaded query={records}>
        {({ pages }) => {
          const rows = pages.flatMap(({ entities }) => entities);
          if (rows.length === 0) {
            return <NoRecords narrowed={narrowed} onClear={() => void navigate({ search: {} })} />;
          }
          return (
            <Stack gap="sm">
              <RecordTable label="Records" records={rows} />
              <InfiniteList query={records} shown={rows.length} />
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function NoRecords({ narrowed, onClear }: { narrowed: boolean; onClear: () => void }) {
  if (!narrowed) {
    return (
      <Empty title="No records yet">
        <Text size="sm" c="dimmed">
          Open a feed to see how to send records.
        </Text>
      </Empty>
    );
  }
  return (
    <Empty title="No matching records">
      <Group>
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      </Group>
    </Empty>
  );
}

/** The day starts in the viewer's time zone. With `updated_since`, the list is sorted by the last update. */
function filterOf({ updated_since: day, confidence_min, ...rest }: RecordSearch): RecordFilter {
  const since = day === undefined ? NaN : Date.parse(`${day}T00:00`);
  return {
    ...rest,
    confidence_min: confidence_min === undefined ? undefined : String(confidence_min),
    updated_since: Number.isNaN(since) ? undefined : new Date(since).toISOString(),
  };
}
