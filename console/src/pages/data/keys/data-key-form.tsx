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
import { useForm } from '@mantine/form';
import type { DataKey } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { dataKeyForm as text } from '#console/src/messages/en/data/keys.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { showSecretOnce } from '#console/src/parts/forms/secret-once.tsx';
import { apiUrl } from '#console/src/document.ts';
import { dataKeysKey } from '#console/src/queries/data.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';

type Scope = DataKey['scopes'][number];

/** The first request to test a key, by scope. */
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

/** Creates a data key and shows its secret once. */
export function DataKeyForm({ onClose }: { onClose: () => void }) {
  const form = useForm({
    initialValues: {
      name: '',
      mode: 'live' as DataKey['mode'],
      scopes: ['feeds:read', 'entities:read'] as Scope[],
      requests: '' as string | number,
      credits: '' as string | number,
      expires: '',
      addresses: [] as string[],
    },
  });
  const { name, mode, scopes, requests, credits, expires, addresses } = form.values;
  const create = useAction(
    () =>
      api().createDataKey({
        name,
        mode,
        scopes,
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
        showSecretOnce({ title: text.secretTitle(name), secret, use: commandOf(secret, granted) });
      },
    },
  );
  const allowance = {
    description: text.allowanceAbout,
    min: 0,
    allowDecimal: false,
    thousandSeparator: ',',
  };
  return (
    <FormModal title={text.title} submit={text.submit} action={create} onClose={onClose}>
      <TextInput
        label={words.name}
        description={text.nameAbout}
        required
        data-autofocus
        maxLength={200}
        {...form.getInputProps('name')}
      />
      <Radio.Group label={words.mode} {...form.getInputProps('mode')}>
        <Group mt={4}>
          <Radio value="live" label={text.live} />
          <Radio value="test" label={text.test} />
        </Group>
      </Radio.Group>
      <Checkbox.Group
        label={text.scopes}
        description={text.scopesAbout}
        {...form.getInputProps('scopes')}
      >
        <Stack gap="xs" mt="xs">
          {Object.entries(text.scopeAbout).map(([scope, about]) => (
            <Checkbox key={scope} value={scope} label={scope} description={about} />
          ))}
        </Stack>
      </Checkbox.Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput label={text.requests} {...allowance} {...form.getInputProps('requests')} />
        <NumberInput label={text.credits} {...allowance} {...form.getInputProps('credits')} />
      </SimpleGrid>
      <TextInput
        type="datetime-local"
        label={text.expires}
        description={text.expiresAbout}
        {...form.getInputProps('expires')}
      />
      <TagsInput
        label={text.addresses}
        description={text.addressesAbout}
        placeholder="192.0.2.0/24"
        {...form.getInputProps('addresses')}
      />
    </FormModal>
  );
}

function commandOf(secret: string, granted: readonly Scope[]): string {
  const path = firstCalls[granted[0] ?? 'feeds:read'];
  const method = path === '/v1/exports' ? '-X POST ' : '';
  return `curl ${method}${apiUrl}${path} \\\n  -H 'Authorization: Bearer ${secret}'`;
}
