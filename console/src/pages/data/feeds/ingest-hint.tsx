import { Text } from '@mantine/core';
import type { Feed } from '#client/index.ts';
import { apiUrl } from '#console/src/document.ts';
import { ingestHint as text } from '#console/src/messages/en/data/feeds.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { useSessionToken } from '#console/src/session.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** How a program sends records to the feed. */
export function IngestHint({ feed }: { feed: Feed }) {
  const openMode = useSessionToken() === undefined;
  if (!useMay('manage_workspace')) return null;
  return (
    <Section title={text.title}>
      <Text size="sm">
        <Message
          text={text.workflows}
          values={{ entityTool: <code>entity_upsert</code>, eventTool: <code>event_emit</code> }}
        />{' '}
        {openMode ? (
          text.programs
        ) : (
          <Message
            text={text.programsWithKey}
            values={{
              apiKey: (
                <TextLink inherit to="/keys">
                  {text.apiKey}
                </TextLink>
              ),
            }}
          />
        )}
      </Text>
      <Snippet text={ingestCommand(feed, openMode)} what={text.theCommand} />
      <Dimmed>{text.wholeRecords}</Dimmed>
    </Section>
  );
}

function ingestCommand({ id, entity_types }: Feed, openMode: boolean): string {
  const type = entity_types[0] ?? 'project';
  const records = [
    {
      type: 'entity',
      external_key: `${type}-1`,
      entity_type: type,
      canonical_name: 'Riverside Tower',
      attributes: { stage: 'planning' },
      geography: { city: 'Austin', region: 'TX', country: 'US' },
      confidence: 0.9,
    },
  ];
  return [
    `curl -X POST ${apiUrl}/api/data/ingest`,
    "-H 'Content-Type: application/json'",
    ...(openMode ? [] : [`-H 'X-API-Key: <${text.keyPlaceholder}>'`]),
    `-d '${JSON.stringify({ feed_id: id, records }, null, 2)}'`,
  ].join(' \\\n  ');
}
