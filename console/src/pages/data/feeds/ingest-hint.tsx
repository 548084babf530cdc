import { Text } from '@mantine/core';
import type { Feed } from '../../../../../client/index.ts';
import { apiUrl } from '../../../document.ts';
import { Section } from '../../../parts/page.tsx';
import { Snippet } from '../../../parts/code/snippet.tsx';
import { useMay } from '../../../queries/identity.ts';
import { useSessionToken } from '../../../session.ts';
import { TextLink } from '../../../parts/links.tsx';

/** How a program sends records to the feed. */
export function IngestHint({ feed }: { feed: Feed }) {
  const openMode = useSessionToken() === undefined;
  if (!useMay('manage_workspace')) return null;
  return (
    <Section title="Send records">
      <Text size="sm">
        Workflows send records with the tools <code>entity_upsert</code> and <code>event_emit</code>
        . Programs send them over HTTP, up to 1,000 at once
        {openMode ? (
          '.'
        ) : (
          <>
            , with an{' '}
            <TextLink inherit to="/keys">
              API key
            </TextLink>{' '}
            that has the manage_workspace permission.
          </>
        )}
      </Text>
      <Snippet text={ingestCommand(feed, openMode)} what="the command" />
      <Text size="sm" c="dimmed">
        The external key identifies a record. Always send the whole record. If nothing changed,
        sending it again has no effect. If something changed, it creates a new version.
      </Text>
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
    ...(openMode ? [] : ["-H 'X-API-Key: <an API key>'"]),
    `-d '${JSON.stringify({ feed_id: id, records }, null, 2)}'`,
  ].join(' \\\n  ');
}
