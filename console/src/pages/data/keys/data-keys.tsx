import { Button, Switch, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { dataKeysQuery } from '../../../queries/data.ts';
import { useMay } from '../../../queries/identity.ts';
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
      title="Data keys"
      about="Credentials for the data API under /v1. API keys do not work there, and data keys work nowhere else."
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={open}>
            New data key
          </Button>
        )
      }
    >
      <DataUsage />
      <Section
        title="Keys"
        actions={
          keys.data?.some(({ revoked }) => revoked) === true && (
            <Switch
              label="Show revoked"
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
              <Empty title="No data keys yet">
                <Text size="sm" c="dimmed">
                  {mayChange
                    ? 'Create a live key to read live data, or a test key to read demo data.'
                    : 'You need the manage_api_keys permission to create one.'}
                </Text>
                {mayChange && <Button onClick={open}>Create data key</Button>}
              </Empty>
            );
          }}
        </Loaded>
      </Section>
      {creating && <DataKeyForm onClose={close} />}
    </Page>
  );
}
