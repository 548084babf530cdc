import { Button, Fieldset, Group, Input, PasswordInput, Stack, TextInput } from '@mantine/core';
import { words } from '#console/src/messages/en/words.ts';
import { headerFields as text } from '#console/src/messages/en/workspace/tools.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { type HeaderDraft, newHeader } from './tool-draft.ts';

/** Headers of a tool. Encrypted values are never shown, and are kept until they are replaced. */
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
    <Fieldset legend={text.title} variant="default">
      <Stack gap="sm">
        <Dimmed size="xs">{text.about}</Dimmed>
        {headers.map((header) => (
          <Group key={header.key} align="flex-end" gap="xs">
            <TextInput
              label={text.header}
              placeholder="Authorization"
              value={header.name}
              onChange={(event) => replace(header.key, { name: event.currentTarget.value })}
              maxLength={200}
              flex={1}
              miw={140}
            />
            <PasswordInput
              label={words.value}
              placeholder={header.value === undefined ? text.unchanged : ''}
              autoComplete="off"
              value={header.value ?? ''}
              onChange={(event) => replace(header.key, { value: event.currentTarget.value })}
              maxLength={8_000}
              flex={1}
              miw={140}
            />
            <Button
              variant="light"
              color="danger"
              onClick={() => onChange(headers.filter(({ key }) => key !== header.key))}
              aria-label={text.removeHeader(header.name)}
            >
              {words.remove}
            </Button>
          </Group>
        ))}
        {problem !== undefined && <Input.Error>{problem}</Input.Error>}
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => onChange([...headers, newHeader('', '')])}
          >
            {text.add}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
