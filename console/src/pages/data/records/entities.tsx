import { Button, Group, Stack } from '@mantine/core';
import { FoldedFilters } from '#console/src/parts/data/folded-filters.tsx';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { entities as text } from '#console/src/messages/en/data/records.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { entitiesQuery, type RecordFilter } from '#console/src/queries/data.ts';
import { InfiniteList } from '#console/src/pages/data/infinite-list.tsx';
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
    <Page title={text.title} about={text.about} wide>
      <FoldedFilters inUse={Object.values<unknown>(search).filter(Boolean).length}>
        <RecordFilters search={search} onChange={narrow} />
      </FoldedFilters>
      <Loaded query={records}>
        {(rows) =>
          rows.length === 0 ? (
            <NoRecords narrowed={narrowed} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Stack gap="sm">
              <RecordTable label={text.table} records={rows} />
              <InfiniteList query={records} shown={rows.length} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

function NoRecords({ narrowed, onClear }: { narrowed: boolean; onClear: () => void }) {
  if (!narrowed) {
    return (
      <Empty {...text.empty}>
        <ButtonLink to="/data" variant="default">
          {text.empty.openFeeds}
        </ButtonLink>
      </Empty>
    );
  }
  return (
    <Empty {...text.noMatch}>
      <Group>
        <Button variant="default" onClick={onClear}>
          {text.noMatch.clear}
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
