import { Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { JsonObject } from '#client/index.ts';
import { namedValues as texts } from '#console/src/messages/en/workflows/node-fields.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { SecretMenu } from '#console/src/pages/workflows/editor/pickers/secret-menu.tsx';
import type { NodeField } from '#console/src/pages/workflows/editor/node-fields.ts';
import { RemoveButton } from '#console/src/parts/forms/remove-button.tsx';
import { TextInState } from './text-in-state.tsx';

interface Row {
  key: number;
  name: string;
  value: string;
}

let lastKey = 0;
const newRow = (name = '', value = ''): Row => ({ key: ++lastKey, name, value });

/** Texts by name, such as the headers of a request, one in each row. */
export function NamedValues({
  field,
  value,
  onChange,
  error,
  secrets,
}: {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
  /** Whether the texts can contain secrets. */
  secrets: boolean;
}) {
  const [typed, setTyped] = useState<{ rows: readonly Row[]; of: unknown }>();
  const [first] = useState(() => rowsOf(value));
  const rows =
    typed === undefined ? first : Object.is(typed.of, value) ? typed.rows : rowsOf(value);
  const save = (next: readonly Row[]): void => {
    const of = valueOf(next);
    setTyped({ rows: next, of });
    onChange(of);
  };
  const change = (key: number, part: Partial<Row>): void =>
    save(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  return (
    <Input.Wrapper
      label={field.label}
      description={field.hint}
      error={error}
      labelElement="div"
      role="group"
      aria-label={field.label}
    >
      <Stack gap="xs" mt={4}>
        {rows.map((row, at) => (
          <ValueRow
            key={row.key}
            {...{ row, secrets }}
            labels={{
              name: texts.nameOf(field.label, at + 1),
              value: texts.valueOf(field.label, at + 1),
            }}
            twice={row.name !== '' && rows.findIndex(({ name }) => name === row.name) < at}
            onChange={(part) => change(row.key, part)}
            onRemove={() => save(rows.filter(({ key }) => key !== row.key))}
          />
        ))}
        <Button
          size="compact-sm"
          variant="subtle"
          w="fit-content"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => save([...rows, newRow()])}
        >
          {texts.add(field.label)}
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}

function ValueRow({
  row: { name, value },
  secrets,
  labels,
  twice,
  onChange,
  onRemove,
}: {
  row: Row;
  secrets: boolean;
  labels: { name: string; value: string };
  twice: boolean;
  onChange: (part: Partial<Row>) => void;
  onRemove: () => void;
}) {
  return (
    <Group gap={6} align="flex-start" wrap="nowrap">
      <TextInput
        size="xs"
        flex="1 1 40%"
        miw={0}
        aria-label={labels.name}
        placeholder={texts.name}
        error={twice ? texts.twice : undefined}
        value={name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <div style={{ flex: '1 1 60%', minWidth: 0 }} className="editor-bare">
        <TextInState
          field={{ name: labels.value, label: labels.value, input: 'template' }}
          language="template"
          value={value}
          onText={(next) => onChange({ value: next })}
          marks={[]}
          lines={1}
        />
      </div>
      {secrets && <SecretMenu onInsert={(reference) => onChange({ value: value + reference })} />}
      <RemoveButton label={texts.remove(name)} onClick={onRemove} />
    </Group>
  );
}

const rowsOf = (value: unknown): readonly Row[] =>
  isRecord(value) ? Object.entries(value).map(([name, text]) => newRow(name, String(text))) : [];

/** The first of several rows with one name counts. A row without a name is not part of the value. */
function valueOf(rows: readonly Row[]): JsonObject | undefined {
  const named = rows.filter(({ name }) => name !== '').toReversed();
  if (named.length === 0) return undefined;
  const value = Object.fromEntries(named.map(({ name, value: text }) => [name, text]));
  // In the order of the rows.
  return Object.fromEntries(rows.flatMap(({ name }) => (name === '' ? [] : [[name, value[name]]])));
}
