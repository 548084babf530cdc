import {
  Button,
  Fieldset,
  Group,
  Input,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { type HeaderDraft, newHeader } from './tool-draft.ts';

/** Headers of a tool. Encrypted values are never shown; they are kept until replaced. */
export function HeaderFields({
  headers,
  onChange,
  problem,
}: {
  headers: HeaderDraft[];
  onChange: (headers: HeaderDraft[]) => void;
  problem: string | undefined;
}) {
  const replace = (key: number, part: Partial<HeaderDraft>): void =>
    onChange(headers.map((header) => (header.key === key ? { ...header, ...part } : header)));
  return (
    <Fieldset legend="Headers" variant="default">
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          Use headers for credentials. Values are encrypted and never shown again.
        </Text>
        {headers.map((header) => (
          <HeaderRow
            key={header.key}
            header={header}
            replace={replace}
            onChange={onChange}
            headers={headers}
          />
        ))}
        {problem !== undefined && <Input.Error>{problem}</Input.Error>}
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => onChange([...headers, newHeader()])}
          >
            Add header
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

function HeaderRow({
  header,
  replace,
  onChange,
  headers,
}: {
  header: HeaderDraft;
  replace: (key: number, part: Partial<HeaderDraft>) => void;
  onChange: (headers: HeaderDraft[]) => void;
  headers: HeaderDraft[];
}) {
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        label="Header"
        placeholder="Authorization"
        value={header.name}
        onChange={(event) => replace(header.key, { name: event.currentTarget.value })}
        maxLength={200}
        flex={1}
        miw={140}
      />
      <PasswordInput
        label="Value"
        placeholder={header.value === undefined ? 'Unchanged' : ''}
        autoComplete="off"
        value={header.value ?? ''}
        onChange={(event) => replace(header.key, { value: event.currentTarget.value })}
        maxLength={8_000}
        flex={1}
        miw={140}
      />
      <Button
        variant="light"
        color="red"
        onClick={() => onChange(headers.filter(({ key }) => key !== header.key))}
        aria-label={`Remove header ${header.name}`}
      >
        Remove
      </Button>
    </Group>
  );
}
