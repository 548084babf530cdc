import { Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { DataEndpoint } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { UserText } from '../../parts/user-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/time.tsx';
import { endpointsQuery } from '../../queries/data.ts';
import { useMay } from '../../queries/identity.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointStatus } from './endpoint-status.tsx';
import { KindBadge } from './kind-badge.tsx';
import { TextLink } from '../../parts/links.tsx';
import { RowTable } from '../../parts/row-table.tsx';

/** Addresses that are told of what happens to records. */
export function EndpointsPage() {
  const endpoints = useQuery(endpointsQuery);
  const mayChange = useMay('manage_workspace');
  const [creating, { open, close }] = useDisclosure(false);
  return (
    <Page
      title="Endpoints"
      about="Addresses that are told, by signed POST requests, of what happens to records."
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={open}>
            New endpoint
          </Button>
        )
      }
    >
      <Loaded query={endpoints}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No endpoints yet">
              <Text size="sm" c="dimmed">
                {mayChange
                  ? 'An endpoint hears of new and changed records without asking for them.'
                  : 'Whoever may manage the workspace can register one.'}
              </Text>
              {mayChange && <Button onClick={open}>Register the first endpoint</Button>}
            </Empty>
          ) : (
            <RowTable
              label="Endpoints"
              columns={['Address', 'Hears of', 'Status', 'Events', 'Last delivered']}
            >
              {all.map((endpoint) => (
                <EndpointRow key={endpoint.id} of={endpoint} />
              ))}
            </RowTable>
          )
        }
      </Loaded>
      {creating && <EndpointForm onClose={close} />}
    </Page>
  );
}

function EndpointRow({ of: endpoint }: { of: DataEndpoint }) {
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/data/endpoints/$endpointId" params={{ endpointId: endpoint.id }}>
          <UserText>{endpoint.url}</UserText>
        </TextLink>
      </Table.Td>
      <Table.Td>
        <KindBadge isDemo={endpoint.is_demo} />
      </Table.Td>
      <Table.Td>
        <EndpointStatus of={endpoint} />
        {endpoint.consecutive_failures > 0 && (
          <Text size="xs" c="dimmed">
            {endpoint.consecutive_failures} failed in a row
          </Text>
        )}
      </Table.Td>
      <Table.Td>{endpoint.events.join(', ')}</Table.Td>
      <Table.Td>
        {endpoint.last_delivery_at === null ? 'never' : <When at={endpoint.last_delivery_at} ago />}
      </Table.Td>
    </Table.Tr>
  );
}
