import { Button, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { DataEndpoint } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { endpoints as text } from '#console/src/messages/en/webhooks.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { endpointsQuery } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointStatus } from './endpoint-status.tsx';
import { KindBadge } from '#console/src/pages/data/kind-badge.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The webhook endpoints of the workspace. */
export function EndpointsPage() {
  const endpoints = useQuery(endpointsQuery);
  const mayChange = useMay('manage_workspace');
  const [creating, { open, close }] = useDisclosure(false);
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={mayChange && <NewButton onClick={open}>{text.add}</NewButton>}
    >
      <Loaded query={endpoints}>
        {(all) =>
          all.length === 0 ? (
            <Empty {...text.empty} missing={!mayChange && 'manage_workspace'}>
              {mayChange && <Button onClick={open}>{text.empty.create}</Button>}
            </Empty>
          ) : (
            <RowTable
              label={text.label}
              columns={[text.url, text.mode, words.status, text.events, text.lastDelivery]}
            >
              {all.map((endpoint) => (
                <EndpointRow key={endpoint.id} of={endpoint} />
              ))}
            </RowTable>
          )
        }
      </Loaded>
      {creating && <EndpointForm record={undefined} onClose={close} />}
    </Page>
  );
}

function EndpointRow({ of: endpoint }: { of: DataEndpoint }) {
  return (
    <Row>
      <TextLink to="/webhooks/$endpointId" params={{ endpointId: endpoint.id }}>
        <UserText>{endpoint.url}</UserText>
      </TextLink>
      <KindBadge isDemo={endpoint.is_demo} />
      <Table.Td>
        <EndpointStatus of={endpoint} />
        {endpoint.consecutive_failures > 0 && (
          <Dimmed size="xs">{text.consecutiveFailures(endpoint.consecutive_failures)}</Dimmed>
        )}
      </Table.Td>
      <Table.Td>{endpoint.events.join(', ')}</Table.Td>
      {endpoint.last_delivery_at === null ? (
        text.never
      ) : (
        <When at={endpoint.last_delivery_at} ago />
      )}
    </Row>
  );
}
