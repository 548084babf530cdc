import {
  Checkbox,
  Group,
  NumberInput,
  Radio,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { DataKey } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { showSecretOnce } from '../../parts/secret-once.tsx';
import { apiUrl } from '../../document.ts';
import { dataKeysKey } from '../../queries/data.ts';
import { FormModal } from './form-modal.tsx';

type Scope = DataKey['scopes'][number];

const scopes: Record<Scope, string> = {
  'feeds:read': 'Feeds and their specifications',
  'entities:read': 'Records and their changes',
  'events:read': 'Intelligence events',
  'sources:read': 'Sources and their health',
  'usage:read': 'Usage of the month and allowances',
  'exports:create': 'Exports',
  'webhooks:read': 'Webhook endpoints',
  'webhooks:write': 'Making, changing and deleting webhook endpoints',
};

/** What a scope's key asks first, to see that it works. */
const firstCalls: Record<Scope, string> = {
  'feeds:read': '/v1/feeds',
  'entities:read': '/v1/entities',
  'events:read': '/v1/events',
  'sources:read': '/v1/sources',
  'usage:read': '/v1/usage',
  'exports:create': '/v1/exports',
  'webhooks:read': '/v1/webhooks',
  'webhooks:write': '/v1/webhooks',
};

const allowanceOf = (typed: string | number): number | null =>
  typeof typed === 'number' ? typed : null;

/** Makes a data key and shows its secret, this once. */
export function DataKeyForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [mode, setMode] = useState<DataKey['mode']>('live');
  const [chosen, setChosen] = useState<Scope[]>(['feeds:read', 'entities:read']);
  const [requests, setRequests] = useState<string | number>('');
  const [credits, setCredits] = useState<string | number>('');
  const [expires, setExpires] = useState('');
  const [addresses, setAddresses] = useState<string[]>([]);
  const create = useAction(
    () =>
      api().createDataKey({
        name,
        mode,
        scopes: chosen,
        expires_at: expires === '' ? null : new Date(expires).toISOString(),
        ip_allowlist: addresses,
        monthly_request_allowance: allowanceOf(requests),
        monthly_credit_allowance: allowanceOf(credits),
      }),
    {
      changes: [dataKeysKey],
      quiet: true,
      onDone: ({ secret, scopes: granted }) => {
        onClose();
        showSecretOnce({ title: 'The new data key', secret, use: commandOf(secret, granted) });
      },
    },
  );
  return (
    <FormModal
      title="New data key"
      submit="Make it"
      action={create}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Who or what it is for."
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Radio.Group
        label="Mode"
        value={mode}
        onChange={(value) => setMode(value as DataKey['mode'])}
      >
        <Group mt={4}>
          <Radio value="live" label="live: reads what is real" />
          <Radio value="test" label="test: reads what is made up" />
        </Group>
      </Radio.Group>
      <Checkbox.Group
        label="Scopes"
        description="What it is for. It may do nothing else."
        value={chosen}
        onChange={(value) => setChosen(value as Scope[])}
      >
        <Stack gap="xs" mt="xs">
          {Object.entries(scopes).map(([scope, about]) => (
            <Checkbox key={scope} value={scope} label={scope} description={about} />
          ))}
        </Stack>
      </Checkbox.Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label="Requests a month"
          description="Empty: only the plan's."
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          value={requests}
          onChange={setRequests}
        />
        <NumberInput
          label="Credits a month"
          description="Empty: only the plan's."
          min={0}
          allowDecimal={false}
          thousandSeparator=","
          value={credits}
          onChange={setCredits}
        />
      </SimpleGrid>
      <TextInput
        type="datetime-local"
        label="Expires"
        description="From then on it lets nobody in. Empty: never."
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
      <TagsInput
        label="Addresses"
        description="IP addresses and CIDRs that it may be used from; empty for anywhere. Enter adds one."
        placeholder="192.0.2.0/24"
        value={addresses}
        onChange={setAddresses}
      />
    </FormModal>
  );
}

function commandOf(secret: string, granted: readonly Scope[]): string {
  const path = firstCalls[granted[0] ?? 'feeds:read'];
  const method = path === '/v1/exports' ? '-X POST ' : '';
  return `curl ${method}${apiUrl}${path} \\\n  -H 'Authorization: Bearer ${secret}'`;
}
