import { Button, Switch } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { feeds as text } from '#console/src/messages/en/data/feeds.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { feedsQuery } from '#console/src/queries/data.ts';
import { FeedForm } from './feed-form.tsx';
import { FeedTable } from './feed-table.tsx';
import { SourceList } from '#console/src/pages/data/sources/source-list.tsx';

/** Feeds with their freshness, and the sources of their records with their health. */
export function FeedsPage() {
  const feeds = useQuery(feedsQuery);
  const mayChange = useMay('manage_workspace');
  const [creating, { open, close }] = useDisclosure(false);
  const [withArchived, setWithArchived] = useState(false);
  const navigate = useNavigate();
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={mayChange && <NewButton onClick={open}>{text.new}</NewButton>}
    >
      <Section
        title={text.list}
        actions={
          feeds.data?.some(({ status }) => status === 'archived') === true && (
            <Switch
              label={text.showArchived}
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
              <Empty {...text.empty} missing={!mayChange && 'manage_workspace'}>
                {mayChange && <Button onClick={open}>{text.empty.create}</Button>}
              </Empty>
            );
          }}
        </Loaded>
      </Section>
      <SourceList />
      {creating && (
        <FeedForm
          record={undefined}
          onClose={close}
          onSaved={({ id }) => void navigate({ to: '/data/feeds/$feedId', params: { feedId: id } })}
        />
      )}
    </Page>
  );
}
