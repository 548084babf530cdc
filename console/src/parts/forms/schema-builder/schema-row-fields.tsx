import {
  ActionIcon,
  Checkbox,
  Group,
  NativeSelect,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { IconArrowUp, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useId, useState } from 'react';
import { schemaBuilder as texts } from '#console/src/messages/en/parts/schema-builder.ts';
import { JsonField } from '#console/src/parts/forms/json-field.tsx';
import { Field } from '#console/src/parts/forms/schema-form.tsx';
import { fieldsOfSchema } from '#console/src/parts/forms/schema-fields.ts';
import { RemoveButton } from '#console/src/parts/forms/remove-button.tsx';
import {
  type RowProblem,
  type RowType,
  rowTypes,
  schemaOfRows,
  type SchemaRow,
  withProperty,
  withType,
} from './schema-rows.ts';
import './schema-builder.css';

/** One property: its name and type, and below them, when opened, the rest. */
export function SchemaRowFields({
  row,
  place,
  problem,
  isNew,
  onChange,
  onRemove,
  onMove,
  nested,
}: {
  row: SchemaRow;
  /** Which row it is, for screen readers. */
  place: string;
  problem: RowProblem | undefined;
  /** Whether it was just added, so that its name is entered next. */
  isNew: boolean;
  onChange: (row: SchemaRow) => void;
  onRemove: () => void;
  /** Moves it up; undefined for the first. */
  onMove: (() => void) | undefined;
  nested: (rows: readonly SchemaRow[], change: (rows: readonly SchemaRow[]) => void) => ReactNode;
}) {
  const { name, type, required } = row;
  const [open, setOpen] = useState(false);
  const details = useId();
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <div className="schema-row" role="group" aria-label={texts.row(place, name)}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={texts.details(place)}
          aria-expanded={open}
          aria-controls={open ? details : undefined}
          onClick={() => setOpen(!open)}
        >
          <Chevron size={16} aria-hidden />
        </ActionIcon>
        <TextInput
          size="xs"
          flex={1}
          miw={0}
          aria-label={texts.name(place)}
          placeholder={texts.nameShort}
          value={name}
          autoFocus={isNew}
          error={
            problem === undefined || isNewAndEmpty(row, isNew) ? undefined : texts.problems[problem]
          }
          onChange={({ currentTarget }) => onChange({ ...row, name: currentTarget.value })}
        />
        <NativeSelect
          size="xs"
          w={116}
          aria-label={texts.type(place)}
          data={[
            ...rowTypes.map((each) => ({ value: each, label: texts.types[each] })),
            ...(type === 'json' ? [{ value: 'json', label: texts.types.json }] : []),
          ]}
          value={type}
          onChange={({ currentTarget }) => onChange(withType(row, currentTarget.value as RowType))}
        />
        <RemoveButton label={texts.remove(place)} onClick={onRemove} />
      </Group>
      <Stack gap={6} pl={32} mt={6}>
        <Checkbox
          size="xs"
          label={texts.required}
          checked={required}
          onChange={({ currentTarget }) => onChange({ ...row, required: currentTarget.checked })}
        />
        {type === 'choice' && (
          <TagsInput
            size="xs"
            aria-label={texts.choices(place)}
            placeholder={texts.choicesShort}
            acceptValueOnBlur
            value={[...row.choices]}
            onChange={(choices) => onChange({ ...row, choices })}
          />
        )}
        {type === 'object' && nested(row.rows, (rows) => onChange({ ...row, rows }))}
        {type === 'json' && (
          <JsonField
            label={texts.asJson(name)}
            value={row.property}
            onChange={(property) => onChange(withProperty(row, property ?? {}))}
          />
        )}
        {open && (
          <Stack gap={6} id={details}>
            <Details {...{ row, onChange, onMove }} />
          </Stack>
        )}
      </Stack>
    </div>
  );
}

/** A row that was just added has no name because no one could enter one yet. */
const isNewAndEmpty = ({ name }: SchemaRow, isNew: boolean): boolean => isNew && name === '';

function Details({
  row,
  onChange,
  onMove,
}: {
  row: SchemaRow;
  onChange: (row: SchemaRow) => void;
  onMove: (() => void) | undefined;
}) {
  return (
    <>
      <TextInput
        size="xs"
        label={texts.label}
        value={row.label}
        onChange={({ currentTarget }) => onChange({ ...row, label: currentTarget.value })}
      />
      <TextInput
        size="xs"
        label={texts.help}
        value={row.help}
        onChange={({ currentTarget }) => onChange({ ...row, help: currentTarget.value })}
      />
      <Default row={row} onChange={(start) => onChange({ ...row, start })} />
      {onMove !== undefined && (
        <Group>
          <ActionIcon
            variant="default"
            size="sm"
            aria-label={texts.moveUp}
            title={texts.moveUp}
            onClick={onMove}
          >
            <IconArrowUp size={14} aria-hidden />
          </ActionIcon>
          <Text size="xs" aria-hidden>
            {texts.moveUp}
          </Text>
        </Group>
      )}
    </>
  );
}

/** The default, entered as the form enters the property. */
function Default({ row, onChange }: { row: SchemaRow; onChange: (start: unknown) => void }) {
  const field = fieldsOfSchema(schemaOfRows([{ ...row, name: 'x', rows: [] }], undefined))?.[0];
  if (field === undefined || field.input === 'group' || field.input === 'json') return null;
  return (
    <Field
      field={{ ...field, label: texts.start, hint: undefined, required: false }}
      value={row.start}
      onChange={onChange}
      path={[]}
      onBroken={() => undefined}
    />
  );
}
