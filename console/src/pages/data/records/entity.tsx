import { Group, Skeleton, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Entity } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { entity as text, verificationTexts } from '#console/src/messages/en/data/records.ts';
import { Message } from '#console/src/messages/message.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { percentText } from '#console/src/parts/text/numbers.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { entityQuery, feedQuery } from '#console/src/queries/data.ts';
import { EntityHistory } from './entity-history.tsx';
import { EventList } from './event-list.tsx';
import { Evidence } from './evidence.tsx';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';
import { placeText } from './place.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { Value } from './value.tsx';

/** A record: its attributes, sources, history and events. */
export function EntityPage() {
  const { entityId } = useParams({ from: '/inside/data/entities/$entityId' });
  const entity = useQuery(entityQuery(entityId));
  return (
    <Loaded query={entity}>
      {(record) => (
        <Page title={record.canonical_name} about={<About record={record} />}>
          <EntityFacts record={record} />
          <Section title={text.attributes}>
            <Pairs of={record.attributes} label={text.attributes} none={text.noAttributes} />
          </Section>
          {Object.keys(record.external_ids).length > 0 && (
            <Section title={text.externalIds}>
              <Pairs of={record.external_ids} label={text.externalIds} none="" />
            </Section>
          )}
          <Section title={text.sources}>
            {record.source_evidence.length === 0 ? (
              <Dimmed>{text.noSources}</Dimmed>
            ) : (
              <Evidence of={record.source_evidence} />
            )}
          </Section>
          <Section title={words.events}>
            <EventList filter={{ entity_id: entityId }} />
          </Section>
          <Section title={text.history}>
            <EntityHistory entityId={entityId} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

function About({ record }: { record: Entity }) {
  const feed = useQuery(feedQuery(record.feed_id));
  return (
    <Group gap="xs">
      <Message
        text={text.about}
        values={{
          type: record.entity_type,
          feed: feed.isPending ? (
            <Skeleton component="span" h={14} w={120} />
          ) : (
            <TextLink inherit to="/data/feeds/$feedId" params={{ feedId: record.feed_id }}>
              <UserText>{feed.data?.name ?? record.feed_id}</UserText>
            </TextLink>
          ),
        }}
      />
      <KindBadge isDemo={record.is_demo} />
    </Group>
  );
}

function EntityFacts({ record }: { record: Entity }) {
  const place = placeText(record.geography);
  const aliases = record.aliases.filter((alias) => typeof alias === 'string');
  return (
    <Facts
      of={[
        [words.status, <UserText key="status">{record.status}</UserText>],
        [words.confidence, percentText(record.confidence * 100)],
        [words.verified, verificationTexts[record.verification_status]],
        [words.version, record.version],
        [text.location, place === undefined ? undefined : <UserText>{place}</UserText>],
        [
          text.aliases,
          aliases.length === 0 ? undefined : <UserText>{aliases.join(', ')}</UserText>,
        ],
        [text.firstSeen, <When key="first" at={record.first_observed_at} />],
        [text.lastSeen, <When key="last" at={record.last_observed_at} />],
        [text.updated, <When key="updated" at={record.updated_at} />],
        [
          text.lastVerified,
          record.last_verified_at === null ? undefined : <When at={record.last_verified_at} />,
        ],
        [text.id, record.id],
      ]}
    />
  );
}

function Pairs({ of, label, none }: { of: Entity['attributes']; label: string; none: string }) {
  const pairs = Object.entries(of);
  if (pairs.length === 0) {
    return <Dimmed>{none}</Dimmed>;
  }
  return (
    <RowTable label={label} columns={[words.name, words.value]} minWidth={320}>
      {pairs.map(([name, value]) => (
        <Row key={name}>
          <Table.Th scope="row" fw={500} w="35%">
            <UserText>{name}</UserText>
          </Table.Th>
          <Value of={value} what={name} />
        </Row>
      ))}
    </RowTable>
  );
}
