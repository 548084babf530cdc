import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { FeedDetail } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { JsonView } from '../../../parts/code/json-view.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { When } from '../../../parts/text/time.tsx';
import { entitiesQuery, feedQuery, feedsKey } from '../../../queries/data.ts';
import { useMay } from '../../../queries/identity.ts';
import { EventList } from '../records/event-list.tsx';
import { Facts } from '../../../parts/data/facts.tsx';
import { FeedForm } from './feed-form.tsx';
import { FeedStatus } from './feed-status.tsx';
import { IngestHint } from './ingest-hint.tsx';
import { KindBadge } from '../kind-badge.tsx';
import { RecordTable } from '../records/record-table.tsx';
import { TextLink } from '../../../parts/links.tsx';

/** A feed: its freshness, its latest records and events, and how to send records. */
export function FeedPage() {
  const { feedId } = useParams({ from: '/inside/data/feeds/$feedId' });
  const feed = useQuery(feedQuery(feedId));
  return (
    <Loaded query={feed}>
      {(loaded) => (
        <Page
          title={loaded.name}
          about={loaded.description === '' ? undefined : <UserText>{loaded.description}</UserText>}
          actions={<FeedActions feed={loaded} />}
        >
          <FeedFacts feed={loaded} />
          <NewestRecords feedId={feedId} />
          <Section title="Latest events">
            <EventList filter={{ feed_id: feedId }} limit={10} />
          </Section>
          <IngestHint feed={loaded} />
          <Section title="Specification">
            <JsonView
              value={{
                specification: loaded.specification,
                geography: loaded.geography,
                schema: loaded.schema,
              }}
              what="the specification"
            />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

function FeedActions({ feed }: { feed: FeedDetail }) {
  const mayChange = useMay('manage_workspace');
  const [editing, { open, close }] = useDisclosure(false);
  const navigate = useNavigate();
  const archived = feed.status === 'archived';
  const archive = useAction(
    () => api().updateFeed(feed.id, { status: archived ? 'active' : 'archived' }),
    { changes: [feedsKey], done: archived ? 'Feed reactivated' : 'Feed archived' },
  );
  const remove = useAction(() => api().deleteFeed(feed.id), {
    changes: [[...feedsKey, 'list']],
    done: 'Feed deleted',
    onDone: () => void navigate({ to: '/data' }),
  });
  if (!mayChange) return null;
  return (
    <>
      <Button variant="default" onClick={open}>
        Edit
      </Button>
      <Button
        variant="default"
        loading={archive.isPending}
        onClick={() => archive.mutate(undefined)}
      >
        {archived ? 'Reactivate' : 'Archive'}
      </Button>
      <Button
        variant="light"
        color="red"
        loading={remove.isPending}
        onClick={() =>
          confirm({
            title: 'Delete this feed?',
            consequence: (
              <>
                This deletes <UserText>{feed.name}</UserText> with all its records, their history
                and their events. You cannot undo this. To keep the data, archive the feed instead.
              </>
            ),
            confirmLabel: 'Delete feed',
            onConfirm: () => remove.mutate(undefined),
          })
        }
      >
        Delete
      </Button>
      {editing && <FeedForm feed={feed} onClose={close} />}
    </>
  );
}

function FeedFacts({ feed }: { feed: FeedDetail }) {
  const { last_event_at, last_checked_at } = feed.freshness;
  return (
    <Facts
      of={[
        ['Mode', <KindBadge key="kind" isDemo={feed.is_demo} />],
        ['Status', <FeedStatus key="status" status={feed.status} />],
        ['Latest record', last_event_at === null ? 'None yet' : <When at={last_event_at} ago />],
        ['Last received', last_checked_at === null ? 'Never' : <When at={last_checked_at} ago />],
        ['Record types', feed.entity_types.length === 0 ? 'Any' : feed.entity_types.join(', ')],
        ['Created', <When key="made" at={feed.created_at} />],
      ]}
    />
  );
}

const NEWEST = 5;

function NewestRecords({ feedId }: { feedId: string }) {
  const records = useInfiniteQuery(entitiesQuery({ feed_id: feedId }, NEWEST));
  return (
    <Section
      title="Latest records"
      actions={
        <>
          <TextLink size="sm" to="/data/entities" search={{ feed_id: feedId }}>
            View all records
          </TextLink>
          <TextLink size="sm" to="/data/changes" search={{ feed_id: feedId }}>
            View changes{' '}
          </TextLink>
        </>
      }
    >
      <Loaded query={records}>
        {({ pages }) => {
          const rows = pages.flatMap(({ entities }) => entities);
          if (rows.length === 0) return <Empty title="No records yet" />;
          return <RecordTable label="Latest records" records={rows} />;
        }}
      </Loaded>
    </Section>
  );
}
