import {
  Autocomplete,
  Checkbox,
  MultiSelect,
  NativeSelect,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { CodeEditor } from '../../../parts/code/code-editor.tsx';
import { anObject, JsonField } from '../../../parts/forms/json-field.tsx';
import { membersQuery } from '../../../queries/members.ts';
import { jsonText } from '../../../parts/forms/json-text.ts';
import { type FieldMark, marksText } from './field-marks.ts';
import type { NodeField } from './node-fields.ts';
import { NumberField } from '../../../parts/forms/number-field.tsx';
import { ToolsField } from './tools-field.tsx';

/** One field of a node. A draft is not validated, so the value can have any type. */
export function FieldInput({
  field,
  value,
  onChange,
  marks,
  tools,
}: {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
  tools: readonly string[];
}) {
  const error = marksText(marks);
  const common = { label: field.label, description: field.hint, error };
  const onText = (text: string): void => onChange(text === '' ? undefined : text);
  switch (field.input) {
    case 'line':
      return <LineInput common={common} value={value} onText={onText} />;
    case 'template':
      return <TemplateInput common={common} value={value} onText={onText} />;
    case 'expression':
      return <ExpressionInput {...{ field, value, onChange, marks, error }} />;
    case 'number':
      return (
        <NumberField
          {...common}
          value={value}
          min={field.least}
          max={field.most}
          allowDecimal={field.whole !== true}
          onChange={onChange}
        />
      );
    case 'object':
    case 'json':
      return <JsonInput field={field} error={error} value={value} onChange={onChange} />;
    case 'names':
      return <NamesInput {...{ common, value, onChange }} choices={field.choices} />;
    case 'members':
      return <MembersInput {...{ common, value, onChange }} />;
    case 'flag':
      return <FlagInput {...{ common, value, onChange }} />;
    case 'choice':
      return <ChoiceInput common={common} choices={field.choices} value={value} onText={onText} />;
    case 'tools':
      return (
        <ToolsField
          label={field.label}
          description={field.hint}
          {...{ value, onChange, marks, tools }}
          input={(option) => <FieldInput {...option} tools={tools} />}
        />
      );
    case 'tool':
      return <ToolInput common={common} tools={tools} value={value} onText={onText} />;
  }
}

const LineInput = ({
  common,
  value,
  onText,
}: Pick<ValueProps, 'common' | 'value'> & { onText: (text: string) => void }) => (
  <TextInput
    {...common}
    value={textOf(value)}
    onChange={(event) => onText(event.currentTarget.value)}
  />
);

function TemplateInput({
  common,
  value,
  onText,
}: {
  common: { label: string; description: string | undefined; error: string | undefined };
  value: unknown;
  onText: (text: string) => void;
}) {
  return (
    <Textarea
      {...common}
      autosize
      minRows={2}
      maxRows={12}
      dir="auto"
      value={textOf(value)}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}

function ChoiceInput({
  common,
  choices = [],
  value,
  onText,
}: {
  common: { label: string; description: string | undefined; error: string | undefined };
  choices: NodeField['choices'];
  value: unknown;
  onText: (text: string) => void;
}) {
  const standard = choices[0]?.value ?? '';
  const shown = value === undefined ? standard : textOf(value);
  // A draft can contain any value.
  const unknown = choices.some((choice) => choice.value === shown) ? [] : [shown];
  return (
    <NativeSelect
      {...common}
      data={[...choices, ...unknown]}
      value={shown}
      onChange={({ currentTarget }) =>
        onText(currentTarget.value === standard ? '' : currentTarget.value)
      }
    />
  );
}

function ToolInput({
  common,
  tools,
  value,
  onText,
}: {
  common: { label: string; description: string | undefined; error: string | undefined };
  tools: readonly string[];
  value: unknown;
  onText: (text: string) => void;
}) {
  return (
    <Autocomplete
      {...common}
      data={[...tools]}
      value={textOf(value)}
      onChange={onText}
      limit={50}
    />
  );
}

interface ValueProps {
  common: { label: string; description: string | undefined; error: string | undefined };
  value: unknown;
  onChange: (value: unknown) => void;
}

const FlagInput = ({ common, value, onChange }: ValueProps) => (
  <Checkbox
    {...common}
    checked={value === true}
    onChange={(event) => onChange(event.currentTarget.checked || undefined)}
  />
);

function NamesInput({
  common,
  value,
  onChange,
  choices = [],
}: ValueProps & { choices: NodeField['choices'] }) {
  return (
    <TagsInput
      {...common}
      data={choices.map((choice) => choice.value)}
      value={textsOf(value)}
      onChange={(names) => onChange(names.length === 0 ? undefined : names)}
    />
  );
}

/** A member who was removed is shown by their id. */
function MembersInput({ common, value, onChange }: ValueProps) {
  const members = useQuery(membersQuery).data ?? [];
  const given = textsOf(value);
  const known = members.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }));
  const unknown = given.filter((id) => members.every((member) => member.id !== id));
  return (
    <MultiSelect
      {...common}
      searchable
      data={[...known, ...unknown.map((id) => ({ value: id, label: id }))]}
      value={given}
      onChange={(ids) => onChange(ids.length === 0 ? undefined : ids)}
    />
  );
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

function JsonInput({
  field,
  error,
  value,
  onChange,
}: {
  field: NodeField;
  error: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  return (
    <JsonField
      label={field.label}
      description={field.hint}
      error={error}
      value={value}
      onChange={onChange}
      {...(field.input === 'object' && { judge: anObject })}
    />
  );
}

/** Underlined characters of an invalid expression: the service reports only where the error starts. */
const MARKED_CHARACTERS = 1;

function ExpressionInput({
  field,
  value,
  onChange,
  marks,
  error,
}: {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
  error: string | undefined;
}) {
  const placed = useMemo(
    () =>
      marks.flatMap(({ message, position, severity }) =>
        position === undefined
          ? []
          : [{ from: position, to: position + MARKED_CHARACTERS, message, severity }],
      ),
    [marks],
  );
  return (
    <CodeEditor
      label={field.label}
      {...(field.hint !== undefined && { description: field.hint })}
      error={error}
      language="expression"
      value={textOf(value)}
      marks={placed}
      minHeight={44}
      maxHeight={200}
      onChange={(text) => {
        if (text !== textOf(value)) onChange(text);
      }}
    />
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value));
