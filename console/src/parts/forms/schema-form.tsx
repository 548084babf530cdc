import {
  Button,
  Checkbox,
  Fieldset,
  NativeSelect,
  Stack,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { JsonObject } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { jsonMistakes, schemaForm as texts } from '#console/src/messages/en/parts/fields.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { anObject, JsonField } from './json-field.tsx';
import { NumberField } from './number-field.tsx';
import { fieldsOfSchema, problemOfField, type SchemaField } from './schema-fields.ts';

const LONG_TEXT = 5_000;

interface SchemaFormProps {
  schema: JsonObject;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  /** Called with whether a JSON text is invalid; the value is then unchanged. */
  onBroken: (broken: boolean) => void;
  /** The service's error about the value, to show at the field it concerns. */
  refusal?: string | undefined;
  /** The name of the value in requests and errors. */
  name?: string;
  label?: string;
}

/**
 * A form for a JSON object with a schema: one field per property, and JSON for properties without a field, or for the
 * whole object. Start it with `startOfSchema(schema)`. The service validates; the form only prevents wrong types.
 */
export function SchemaForm({
  schema,
  value,
  onChange,
  onBroken,
  refusal,
  name = 'input',
  label = words.input,
}: SchemaFormProps) {
  const [asJson, setAsJson] = useState(false);
  const fields = fieldsOfSchema(schema);
  if (fields === undefined || asJson) {
    return (
      <Stack gap="xs">
        <JsonField
          label={label}
          description={texts.about}
          value={value}
          judge={requireObject}
          onBroken={onBroken}
          onChange={(next) => onChange(next as JsonObject)}
          minHeight={120}
        />
        {fields !== undefined && (
          <Switch
            onClick={() => {
              onBroken(false);
              setAsJson(false);
            }}
          >
            {texts.asForm}
          </Switch>
        )}
      </Stack>
    );
  }
  return (
    <Stack gap="sm" role="group" aria-label={label}>
      <Fields {...{ fields, value, onChange, onBroken, refusal }} path={[name]} />
      <Switch onClick={() => setAsJson(true)}>{texts.asJson}</Switch>
    </Stack>
  );
}

const requireObject = (value: unknown): string | undefined =>
  value === undefined ? jsonMistakes.noObject : anObject(value);

const Switch = (props: { onClick: () => void; children: string }) => (
  <Button variant="subtle" size="compact-sm" w="fit-content" {...props} />
);

interface FieldsProps extends Pick<SchemaFormProps, 'onBroken' | 'refusal'> {
  fields: readonly SchemaField[];
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  path: readonly string[];
}

const Fields = ({ fields, value, onChange, path, ...rest }: FieldsProps) =>
  fields.map((field) => (
    <Field
      key={field.name}
      field={field}
      value={Object.hasOwn(value, field.name) ? value[field.name] : undefined}
      onChange={(next) => onChange(withField(value, field.name, next))}
      path={[...path, field.name]}
      {...rest}
    />
  ));

/** Undefined removes the property. */
function withField(value: JsonObject, name: string, next: unknown): JsonObject {
  if (next !== undefined) return { ...value, [name]: next };
  const { [name]: _, ...others } = value;
  return others;
}

interface FieldProps extends Omit<FieldsProps, 'fields' | 'value' | 'onChange'> {
  field: SchemaField;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** One field. With `named`, it has this name only for screen readers: its label is elsewhere. */
export function Field({
  field,
  value,
  onChange,
  path,
  onBroken,
  refusal,
  named,
}: FieldProps & { named?: string }): ReactNode {
  const labels =
    named === undefined
      ? {
          label: <UserText>{field.label}</UserText>,
          description: field.hint !== undefined && <UserText>{field.hint}</UserText>,
          withAsterisk: field.required,
        }
      : { 'aria-label': named, label: undefined, description: undefined, withAsterisk: false };
  const common = {
    ...labels,
    error: field.input === 'group' ? undefined : problemOfField(refusal, path),
  };
  switch (field.input) {
    case 'text':
      return <TextField type={field.type} {...{ common, value, onChange }} />;
    case 'choice':
      return <ChoiceField choices={field.choices} {...{ common, value, onChange }} />;
    case 'number':
      return (
        <NumberField
          {...common}
          value={value}
          min={field.least}
          max={field.most}
          allowDecimal={!field.whole}
          onChange={onChange}
        />
      );
    case 'flag':
      return <FlagField {...{ common, value, onChange }} />;
    case 'names':
      return <NamesField {...{ common, value, onChange }} />;
    case 'group':
      return (
        <Fieldset legend={common.label}>
          <Stack gap="sm">
            <Fields
              fields={field.fields}
              value={isRecord(value) ? value : {}}
              {...{ onChange, path, onBroken, refusal }}
            />
          </Stack>
        </Fieldset>
      );
    case 'json':
      return (
        <JsonField
          label={named ?? field.label}
          description={named === undefined ? field.hint : undefined}
          error={common.error}
          value={value}
          onBroken={onBroken}
          onChange={(next) => onChange(next)}
        />
      );
  }
}

interface InputProps extends Pick<FieldProps, 'value' | 'onChange'> {
  common: {
    label: ReactNode;
    description: ReactNode;
    error: string | undefined;
    withAsterisk: boolean;
  };
}

function TextField({ type, common, value, onChange }: InputProps & { type: string }) {
  const text = typeof value === 'string' ? value : '';
  // The height of a long one is not computed with each key.
  const height =
    text.length > LONG_TEXT ? { rows: 10 } : { autosize: true, minRows: 1, maxRows: 10 };
  const set = (next: string): void => onChange(next === '' ? undefined : next);
  return type === 'text' ? (
    <Textarea
      {...common}
      {...height}
      dir="auto"
      value={text}
      onChange={(event) => set(event.currentTarget.value)}
    />
  ) : (
    <TextInput
      {...common}
      type={type}
      value={text}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}

function ChoiceField({
  choices,
  common,
  value,
  onChange,
}: InputProps & { choices: readonly unknown[] }) {
  const chosen = choices.findIndex((choice) => choice === value);
  return (
    <NativeSelect
      {...common}
      data={[
        { value: '', label: '' },
        ...choices.map((choice, index) => ({ value: String(index), label: String(choice) })),
      ]}
      value={chosen < 0 ? '' : String(chosen)}
      onChange={({ currentTarget: { value: index } }) =>
        onChange(index === '' ? undefined : choices[Number(index)])
      }
    />
  );
}

/** Without an asterisk, because an unchecked box is also an answer. */
const FlagField = ({ common: { withAsterisk: _, ...common }, value, onChange }: InputProps) => (
  <Checkbox
    {...common}
    checked={value === true}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
);

const NamesField = ({ common, value, onChange }: InputProps) => (
  <TagsInput
    {...common}
    value={Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []}
    onChange={(names) => onChange(names.length === 0 ? undefined : names)}
  />
);
