import { Input, NativeSelect } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { toolOptions as text } from '#console/src/messages/en/workflows/node-fields.ts';
import {
  approvalMode,
  type ApprovalMode,
  approvalOf,
  optionOf,
  withOption,
} from './agent-tools.ts';
import { type FieldMark, marksText } from './field-marks.ts';
import { callTitle, type NodeField, wholeFrom } from './node-fields.ts';

const expression: NodeField = {
  name: 'approval',
  ...text.expression,
  input: 'expression',
  locals: ['args'],
};

const options: readonly NodeField[] = [
  { name: 'max_calls', ...text.maxCalls, ...wholeFrom(1, 1_000) },
  {
    name: 'on_error',
    ...text.onError,
    input: 'choice',
    choices: [
      { value: 'tell', label: text.onErrorChoices.send },
      { value: 'fail', label: text.onErrorChoices.fail },
    ],
  },
  { name: 'fixed', ...text.fixed, input: 'object', templates: true },
  { name: 'description', ...text.description, input: 'template' },
  { name: 'parameters', ...text.parameters, input: 'schema' },
];

export const approvalModes: readonly { value: ApprovalMode; label: string }[] = [
  { value: 'never', label: text.approvalModes.never },
  { value: 'always', label: text.approvalModes.always },
  { value: 'expression', label: text.approvalModes.expression },
];

/** Renders one field. Passed to these options, because the form's fields include them. */
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
  const shown = {
    never: options,
    always: [callTitle, ...options],
    expression: [expression, callTitle, ...options],
  }[mode];
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
        label={text.approval}
        description={text.approvalAbout}
        data={[...approvalModes]}
        value={mode}
        onChange={({ currentTarget: { value } }) => {
          const next = approvalModes.find((each) => each.value === value)?.value ?? 'never';
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
