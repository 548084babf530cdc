import { Button, Switch } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataKeys as text } from '#console/src/messages/en/data/keys.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { dataKeysQuery } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { DataKeyForm } from './data-key-form.tsx';
import { DataKeyTable } from './data-key-table.tsx';
import { DataUsage } from './data-usage.tsx';

/** The credentials of the data API, and their usage this month. */
export function DataKeysPage() {
  const keys = useQuery(dataKeysQuery);
  const mayChange = useMay('manage_api_keys');
  const [creating, { open, close }] = useDisclosure(false);
  const [withRevoked, setWithRevoked] = useState(false);
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={mayChange && <NewButton onClick={open}>{text.new}</NewButton>}
    >
      <DataUsage />
      <Section
        title={text.list}
        actions={
          keys.data?.some(({ revoked }) => revoked) === true && (
            <Switch
              label={text.showRevoked}
              checked={withRevoked}
              onChange={(event) => setWithRevoked(event.currentTarget.checked)}
            />
          )
        }
      >
        <Loaded query={keys}>
          {(all) => {
            const shown = all.filter(({ revoked }) => withRevoked || !revoked);
            if (shown.length > 0) return <DataKeyTable keys={shown} mayRevoke={mayChange} />;
            return (
              <Empty {...text.empty} missing={!mayChange && 'manage_api_keys'}>
                {mayChange && <Button onClick={open}>{text.empty.create}</Button>}
              </Empty>
            );
          }}
        </Loaded>
      </Section>
      {creating && <DataKeyForm onClose={close} />}
    </Page>
  );
}
