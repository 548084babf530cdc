import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { FeedDetail } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { feed as text } from '#console/src/messages/en/data/feeds.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { entitiesQuery, feedQuery, feedsKey } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { EventList } from '#console/src/pages/data/records/event-list.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { FeedForm } from './feed-form.tsx';
import { FeedStatus } from './feed-status.tsx';
import { IngestHint } from './ingest-hint.tsx';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';
import { RecordTable } from '#console/src/pages/data/records/record-table.tsx';
import { TextLink } from '#console/src/parts/links.tsx';

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
          <Section title={text.latestEvents}>
            <EventList filter={{ feed_id: feedId }} limit={10} />
          </Section>
          <IngestHint feed={loaded} />
          <Section title={text.specification}>
            <JsonView
              value={{
                specification: loaded.specification,
                geography: loaded.geography,
                schema: loaded.schema,
              }}
              what={text.theSpecification}
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
    () =>
      api().updateFeed(
        feed.id,
        { status: archived ? 'active' : 'archived' },
        { ifMatch: feed.etag },
      ),
    { changes: [feedsKey], done: archived ? text.reactivated : text.archived },
  );
  const remove = useAction(({ id, etag }: FeedDetail) => api().deleteFeed(id, { ifMatch: etag }), {
    changes: [[...feedsKey, 'list']],
    done: text.deleted,
    removes: [feedQuery(feed.id).queryKey],
    onDone: () => navigate({ to: '/data' }),
  });
  if (!mayChange) return null;
  return (
    <>
      <Button variant="default" onClick={open}>
        {words.edit}
      </Button>
      <ActionButton action={archive}>{archived ? text.reactivate : text.archive}</ActionButton>
      <ActionButton
        action={remove}
        input={feed}
        ask={{ ...text.confirmDelete, values: { name: feed.name } }}
      >
        {words.delete}
      </ActionButton>
      {editing && <FeedForm record={feed} onClose={close} />}
    </>
  );
}

function FeedFacts({ feed }: { feed: FeedDetail }) {
  const { last_event_at, last_checked_at } = feed.freshness;
  return (
    <Facts
      of={[
        [text.mode, <KindBadge key="kind" isDemo={feed.is_demo} />],
        [words.status, <FeedStatus key="status" status={feed.status} />],
        [
          text.latestRecord,
          last_event_at === null ? text.noRecord : <When at={last_event_at} ago />,
        ],
        [
          text.lastReceived,
          last_checked_at === null ? text.neverReceived : <When at={last_checked_at} ago />,
        ],
        [
          text.recordTypes,
          feed.entity_types.length === 0 ? text.anyType : feed.entity_types.join(', '),
        ],
        [words.created, <When key="made" at={feed.created_at} />],
      ]}
    />
  );
}

const NEWEST = 5;

function NewestRecords({ feedId }: { feedId: string }) {
  const records = useInfiniteQuery(entitiesQuery({ feed_id: feedId }, NEWEST));
  return (
    <Section
      title={text.latestRecords}
      actions={
        <>
          <TextLink size="sm" to="/data/entities" search={{ feed_id: feedId }}>
            {text.viewRecords}
          </TextLink>
          <TextLink size="sm" to="/data/changes" search={{ feed_id: feedId }}>
            {text.viewChanges}{' '}
          </TextLink>
        </>
      }
    >
      <Loaded query={records}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty {...text.empty} />
          ) : (
            <RecordTable label={text.latestRecords} records={rows} />
          )
        }
      </Loaded>
    </Section>
  );
}
