import { Checkbox, MultiSelect, NativeSelect, TagsInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { asTool } from '#shared/tools.ts';
import { membersQuery } from '#console/src/queries/members.ts';
import { jsonText } from '#console/src/parts/forms/json-text.ts';
import { SchemaBuilder } from '#console/src/parts/forms/schema-builder/schema-builder.tsx';
import { isRecord, type JsonRecord } from '#console/src/parts/data/record.ts';
import { ApprovalField } from './approval-field.tsx';
import { RecheckField } from './recheck-field.tsx';
import { CodeField } from './authoring/code-field.tsx';
import { ParamsField } from './authoring/params-field.tsx';
import { JsonInState, TextInState } from './authoring/text-in-state.tsx';
import { type FieldMark, marksText } from './field-marks.ts';
import type { NodeField } from './node-fields.ts';
import { ModelInput, ModelsInput } from './pickers/model-input.tsx';
import { ToolInput } from './pickers/tool-input.tsx';
import { NumberField } from '#console/src/parts/forms/number-field.tsx';
import { ToolsField } from './tools-field.tsx';
import { VersionInput, WorkflowInput } from './workflow-fields.tsx';

interface FieldInputProps {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
  tools: readonly string[];
  /** The node, for fields that depend on others. */
  node?: JsonRecord;
}

/** One field of a node. A draft is not validated, so the value can have any type. */
export function FieldInput({ field, value, onChange, marks, tools, node }: FieldInputProps) {
  const error = marksText(marks);
  const common = { label: field.label, description: field.hint, error };
  const onText = (text: string): void => onChange(text === '' ? undefined : text);
  switch (field.input) {
    case 'line':
      return (
        <TextInput
          {...common}
          value={textOf(value)}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      );
    case 'template':
    case 'expression':
      return <TextInState {...{ field, language: field.input, value, onText, marks }} />;
    case 'code':
      return <CodeField {...{ field, value, onText, marks }} language={node?.['language']} />;
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
      return <JsonInState {...{ field, value, onChange, error }} />;
    case 'schema':
      return isRecord(value) || value === undefined ? (
        <SchemaBuilder {...common} {...{ value, onChange }} />
      ) : (
        <JsonInState {...{ field, value, onChange, error }} />
      );
    case 'params':
      return <ParamsField {...{ field, tool: calledBy(node), value, onChange, marks }} />;
    case 'names':
      return <NamesInput {...{ common, value, onChange }} choices={field.choices} />;
    case 'members':
      return <MembersInput {...{ common, value, onChange }} />;
    case 'workflow':
      return <WorkflowInput common={common} value={textOf(value)} onText={onText} />;
    case 'version':
      return <VersionInput {...{ common, workflow: node?.['workflow'], value, onChange }} />;
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
    case 'approval':
      return (
        <ApprovalField
          {...{ field, value, onChange, marks }}
          input={(option) => <FieldInput {...option} tools={tools} />}
        />
      );
    case 'recheck':
      return <RecheckField {...{ field, value, onChange, error }} />;
    case 'model':
      return <ModelInput common={common} value={textOf(value)} onText={onText} />;
    case 'models':
      return (
        <ModelsInput
          common={common}
          value={textsOf(value)}
          onChange={(models) => onChange(models.length === 0 ? undefined : models)}
        />
      );
    case 'tool':
      return <ToolInput {...{ common, tools, onText }} value={textOf(value)} />;
  }
}

/** The tool whose parameters a node gives. A workflow is one, with its input. */
const calledBy = (node: JsonRecord = {}): unknown =>
  node['kind'] === 'workflow' && typeof node['workflow'] === 'string'
    ? asTool(node['workflow'])
    : node['tool_name'];

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

const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value));
