import { Button, Collapse, Group, Input, SegmentedControl, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { JsonObject } from '#client/index.ts';
import { schemaBuilder as texts } from '#console/src/messages/en/parts/schema-builder.ts';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { fieldsOfSchema, startOfSchema } from '#console/src/parts/forms/schema-fields.ts';
import { SchemaForm } from '#console/src/parts/forms/schema-form.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { otherKeywords, rowsOfSchema, type SchemaRow, schemaOfRows } from './schema-rows.ts';
import { SchemaRows } from './schema-rows-field.tsx';

interface SchemaBuilderProps {
  label: string;
  description?: string | undefined;
  /** The schema of an object. */
  value: JsonObject | undefined;
  onChange: (schema: JsonObject | undefined) => void;
  /** Called with whether a JSON text is invalid; the value is then unchanged. */
  onBroken?: (broken: boolean) => void;
  error?: string | undefined;
}

/** A JSON Schema of an object, as rows or as JSON, with the form that people get for it. Both edit the same value. */
export function SchemaBuilder({ label, description, error, ...edited }: SchemaBuilderProps) {
  const { value, onChange, onBroken } = edited;
  const [shown, setShown] = useState('rows');
  const isShowable = rowsOfSchema(value) !== undefined;
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={shown === 'rows' && isShowable ? error : undefined}
      labelElement="div"
      role="group"
      aria-label={label}
    >
      <Stack gap="xs" mt={4}>
        {isShowable ? (
          <SegmentedControl
            size="xs"
            w="fit-content"
            aria-label={texts.editAs(label)}
            data={[
              { value: 'rows', label: texts.rows },
              { value: 'json', label: texts.json },
            ]}
            value={shown}
            onChange={(next) => {
              onBroken?.(false);
              setShown(next);
            }}
          />
        ) : (
          <Dimmed size="xs">{texts.onlyJson}</Dimmed>
        )}
        {isShowable && shown === 'rows' ? (
          <Rows {...{ value, onChange }} />
        ) : (
          <JsonField
            label={label}
            error={error}
            value={value}
            judge={anObject}
            onChange={(next) => onChange(next as JsonObject | undefined)}
            {...(onBroken !== undefined && { onBroken })}
            minHeight={120}
          />
        )}
        <Preview label={label} schema={value} />
      </Stack>
    </Input.Wrapper>
  );
}

/** Rows that are not part of the schema, such as one without a name, stay while the schema is what the rows made. */
function Rows({ value, onChange }: Pick<SchemaBuilderProps, 'value' | 'onChange'>): ReactNode {
  const [edited, setEdited] = useState(() => ({ rows: rowsOfSchema(value) ?? [], of: value }));
  const mine = Object.is(edited.of, value);
  if (!mine) setEdited({ rows: rowsOfSchema(value) ?? [], of: value });
  const others = otherKeywords(value);
  const save = (rows: readonly SchemaRow[]): void => {
    const of = schemaOfRows(rows, value);
    setEdited({ rows: [...rows], of });
    onChange(of);
  };
  return (
    <>
      <SchemaRows rows={edited.rows} onChange={save} />
      {others.length > 0 && <Dimmed size="xs">{texts.alsoHas(others.join(', '))}</Dimmed>}
    </>
  );
}

/** The form for the schema. It does not use the values that are entered. */
function Preview({ label, schema }: { label: string; schema: JsonObject | undefined }) {
  const [open, setOpen] = useState(false);
  if (schema === undefined || fieldsOfSchema(schema) === undefined) return null;
  return (
    <>
      <Group>
        <Button
          size="compact-sm"
          variant="subtle"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? texts.hidePreview : texts.preview}
        </Button>
      </Group>
      <Collapse expanded={open}>
        {open && (
          <PreviewForm
            key={JSON.stringify(schema)}
            label={texts.previewOf(label)}
            schema={schema}
          />
        )}
      </Collapse>
    </>
  );
}

function PreviewForm({ label, schema }: { label: string; schema: JsonObject }) {
  const [value, setValue] = useState(() => startOfSchema(schema));
  return (
    <SchemaForm
      schema={schema}
      value={value}
      onChange={setValue}
      onBroken={() => undefined}
      label={label}
    />
  );
}
