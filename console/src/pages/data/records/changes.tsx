import { Button, Group, SimpleGrid, Stack } from '@mantine/core';
import { FoldedFilters } from '#console/src/parts/data/folded-filters.tsx';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { changes as text } from '#console/src/messages/en/data/records.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { changesQuery } from '#console/src/queries/data.ts';
import { ChangeTable } from './change-table.tsx';
import { InfiniteList } from '#console/src/pages/data/infinite-list.tsx';
import { FeedSelect } from '#console/src/pages/data/feeds/feed-select.tsx';
import { FilterText } from '#console/src/parts/forms/filter-text.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** Changes in records, updated live. */
export function ChangesPage() {
  const search = useSearch({ from: '/inside/data/changes' });
  const navigate = useNavigate({ from: '/data/changes' });
  const query = changesQuery(search);
  const changes = useInfiniteQuery(query);
  const queries = useQueryClient();
  const narrow = (by: Partial<typeof search>): void =>
    void navigate({ search: { ...search, ...by }, replace: true });
  return (
    <Page title={text.title} about={text.about} wide>
      <FoldedFilters inUse={Object.values<unknown>(search).filter(Boolean).length}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" role="search">
          <FeedSelect value={search.feed_id} onChange={(feed_id) => narrow({ feed_id })} />
          <FilterText
            label={text.type}
            placeholder={text.typePlaceholder}
            maxLength={100}
            value={search.entity_type}
            onChange={(entity_type) => narrow({ entity_type })}
          />
          <FilterText
            label={text.recordId}
            maxLength={100}
            value={search.entity_id}
            onChange={(entity_id) => narrow({ entity_id })}
          />
        </SimpleGrid>
      </FoldedFilters>
      <Loaded query={changes}>
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.changes);
          if (rows.length === 0) return <NoChanges />;
          return (
            <Stack gap="sm">
              <Freshness
                paused={pages.length > 1}
                onReset={() => void queries.resetQueries({ queryKey: query.queryKey, exact: true })}
              />
              <ChangeTable changes={rows} />
              <InfiniteList query={changes} shown={rows.length} />
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Freshness({ paused, onReset }: { paused: boolean; onReset: () => void }) {
  return (
    <Group gap="sm" role="status">
      <Dimmed>{paused ? text.paused : text.refreshes}</Dimmed>
      {paused && (
        <Button size="compact-sm" variant="default" onClick={onReset}>
          {text.backToLatest}
        </Button>
      )}
    </Group>
  );
}

function NoChanges() {
  return (
    <Empty {...text.empty}>
      <ButtonLink to="/data" variant="default">
        {text.empty.openFeeds}
      </ButtonLink>
    </Empty>
  );
}
