import { Button, Switch, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { useMay } from '../../../queries/identity.ts';
import { feedsQuery } from '../../../queries/data.ts';
import { FeedForm } from './feed-form.tsx';
import { FeedTable } from './feed-table.tsx';
import { SourceList } from '../sources/source-list.tsx';

/** Feeds with their freshness, and the sources of their records with their health. */
export function FeedsPage() {
  const feeds = useQuery(feedsQuery);
  const mayChange = useMay('manage_workspace');
  const [creating, { open, close }] = useDisclosure(false);
  const [withArchived, setWithArchived] = useState(false);
  const navigate = useNavigate();
  return (
    <Page
      title="Feeds"
      about="Streams of records. Workflows and programs write to them. Data keys read them."
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={open}>
            New feed
          </Button>
        )
      }
    >
      <Section
        title="Feeds"
        actions={
          feeds.data?.some(({ status }) => status === 'archived') === true && (
            <Switch
              label="Show archived"
              checked={withArchived}
              onChange={(event) => setWithArchived(event.currentTarget.checked)}
            />
          )
        }
      >
        <Loaded query={feeds}>
          {(all) => {
            const shown = all.filter(({ status }) => withArchived || status !== 'archived');
            if (shown.length > 0) return <FeedTable feeds={shown} />;
            return (
              <Empty title="No feeds yet">
                <Text size="sm" c="dimmed">
                  {mayChange
                    ? 'Create a feed to receive records from programs and workflows.'
                    : 'You need the manage_workspace permission to create one.'}
                </Text>
                {mayChange && <Button onClick={open}>Create feed</Button>}
              </Empty>
            );
          }}
        </Loaded>
      </Section>
      <SourceList />
      {creating && (
        <FeedForm
          onClose={close}
          onSaved={({ id }) => void navigate({ to: '/data/feeds/$feedId', params: { feedId: id } })}
        />
      )}
    </Page>
  );
}
