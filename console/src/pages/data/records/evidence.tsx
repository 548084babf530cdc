import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { Entity } from '#client/index.ts';
import { evidence as text } from '#console/src/messages/en/data/records.ts';
import { Message } from '#console/src/messages/message.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { When } from '#console/src/parts/text/time.tsx';

type Evidence = Entity['source_evidence'][number];

/** The sources of a record or an event. Only HTTP and HTTPS URLs become links. */
export function Evidence({ of }: { of: Entity['source_evidence'] }) {
  if (of.length === 0) return null;
  return (
    <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {of.map((item, at) => (
        <Text key={at} component="li" size="xs" c="dimmed">
          <EvidenceLine item={item} />
        </Text>
      ))}
    </Stack>
  );
}

function EvidenceLine({ item }: { item: Evidence }) {
  const { source_name, source_id, url, retrieved_at, synthetic } = item;
  const name = textOf(source_name) ?? textOf(source_id) ?? textOf(url) ?? text.unnamed;
  const link = textOf(url);
  const isLink = link !== undefined && /^https?:/i.test(link);
  return (
    <Group gap={6} component="span">
      {isLink ? (
        <Anchor href={link} target="_blank" rel="noreferrer noopener" inherit>
          <UserText>{name}</UserText>
        </Anchor>
      ) : (
        <UserText>{name}</UserText>
      )}
      {link !== undefined && !isLink && name !== link && <UserText>{link}</UserText>}
      {typeof retrieved_at === 'string' && !Number.isNaN(Date.parse(retrieved_at)) && (
        <span>
          <Message text={text.retrieved} values={{ time: <When at={retrieved_at} /> }} />
        </span>
      )}
      {synthetic === true && <span>{text.demo}</span>}
    </Group>
  );
}

/** Record contents are stored as sent, so their types are not guaranteed. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
