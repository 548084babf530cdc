import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { changesQuery } from '../../../queries/data.ts';
import { ChangeTable } from './change-table.tsx';
import { InfiniteList } from '../infinite-list.tsx';
import { FeedSelect } from '../feeds/feed-select.tsx';
import { FilterText } from '../../../parts/forms/filter-text.tsx';
import { TextLink } from '../../../parts/links.tsx';

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
    <Page title="Changes" about="Attribute changes in existing records, newest first." wide>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" role="search">
        <FeedSelect value={search.feed_id} onChange={(feed_id) => narrow({ feed_id })} />
        <FilterText
          label="Type"
          placeholder="project"
          maxLength={100}
          value={search.entity_type}
          onChange={(entity_type) => narrow({ entity_type })}
        />
        <FilterText
          label="Record ID"
          maxLength={100}
          value={search.entity_id}
          onChange={(entity_id) => narrow({ entity_id })}
        />
      </SimpleGrid>
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
      <Text size="sm" c="dimmed">
        {paused ? 'Paused while you read older changes.' : 'Refreshes every 5 s.'}
      </Text>
      {paused && (
        <Button size="compact-sm" variant="default" onClick={onReset}>
          Back to latest
        </Button>
      )}
    </Group>
  );
}

function NoChanges() {
  return (
    <Empty title="No changes yet">
      <Text size="sm" c="dimmed">
        A change appears when you send an existing record with a different attribute. See{' '}
        <TextLink inherit to="/data">
          Feeds{' '}
        </TextLink>{' '}
        for instructions.
      </Text>
    </Empty>
  );
}
