import { Input, NativeSelect } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import {
  approvalMode,
  type ApprovalMode,
  approvalOf,
  optionOf,
  withOption,
} from './agent-tools.ts';
import { type FieldMark, marksText } from './field-marks.ts';
import type { NodeField } from './node-fields.ts';

const expression: NodeField = {
  name: 'approval',
  label: 'Expression',
  hint: 'A person must approve the call while it is true. Uses args and the state, like args.amount > 100',
  input: 'expression',
};

const options: readonly NodeField[] = [
  {
    name: 'max_calls',
    label: 'Max calls',
    hint: 'Over all turns. Default: no limit.',
    input: 'number',
    least: 1,
    most: 1_000,
    whole: true,
  },
  {
    name: 'on_error',
    label: 'When a call fails',
    input: 'choice',
    choices: [
      { value: 'tell', label: 'Send the error to the model' },
      { value: 'fail', label: 'Fail the node' },
    ],
  },
  {
    name: 'fixed',
    label: 'Fixed arguments',
    hint: 'A JSON object that the model neither sees nor sets. Strings can contain references like {ticket}.',
    input: 'object',
  },
  {
    name: 'description',
    label: 'Description',
    hint: 'For the model. Default: the description of the tool.',
    input: 'template',
  },
  {
    name: 'parameters',
    label: 'Argument schema',
    hint: 'JSON Schema of the arguments, for a tool that has none.',
    input: 'object',
  },
];

const modes: readonly { value: ApprovalMode; label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: 'always', label: 'Always' },
  { value: 'expression', label: 'If an expression is true' },
];

/** Renders one field; given to these options, because the form's fields include them. */
export type RenderField = (props: {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
}) => ReactNode;

/** The options of one tool of an agent. */
export function ToolOptions({
  entry,
  onChange,
  marks,
  input,
}: {
  entry: unknown;
  onChange: (entry: unknown) => void;
  marks: readonly FieldMark[];
  input: RenderField;
}) {
  const mode = approvalMode(optionOf(entry, 'approval'));
  const shown = mode === 'expression' ? [expression, ...options] : options;
  const names = shown.map(({ name }) => name);
  const elsewhere = marksText(marks.filter((mark) => !names.includes(optionIn(mark) ?? '')));
  const option = (field: NodeField): ReactNode => (
    <Fragment key={field.name}>
      {input({
        field,
        value: optionOf(entry, field.name),
        onChange: (value) => onChange(withOption(entry, field.name, value)),
        marks: marks.filter((mark) => optionIn(mark) === field.name),
      })}
    </Fragment>
  );
  return (
    <>
      <NativeSelect
        label="Approval"
        description="Whether a person must approve a call before it is made"
        data={[...modes]}
        value={mode}
        onChange={({ currentTarget: { value } }) => {
          const next = modes.find((each) => each.value === value)?.value ?? 'never';
          onChange(withOption(entry, 'approval', approvalOf[next]));
        }}
      />
      {shown.map(option)}
      {elsewhere !== undefined && <Input.Error>{elsewhere}</Input.Error>}
    </>
  );
}

/** `fixed` for a mark at `fixed.amount`. */
const optionIn = ({ within = '' }: FieldMark): string | undefined => within.split(/[.[]/)[0];
