import { Input, NativeSelect, Stack } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { stepApproval as text } from '#console/src/messages/en/workflows/node-fields.ts';
import { valueAt, withAt } from '#console/src/parts/data/record.ts';
import { approvalMode, approvalOf, savedApproval, stepApprovalOf } from './agent-tools.ts';
import { type FieldMark, marksText } from './field-marks.ts';
import { askingFields, type NodeField } from './node-fields.ts';
import { approvalModes, type RenderField } from './tool-options.tsx';

const expression: NodeField = {
  name: 'when',
  ...text.expression,
  input: 'expression',
  locals: ['args'],
};

/** Whether the steps of a node need approval, and what is required of the approvers. */
export function ApprovalField({
  field,
  value,
  onChange,
  marks,
  input,
}: {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
  input: RenderField;
}) {
  const approval = stepApprovalOf(value);
  const mode = approvalMode(approval['when']);
  const shown = [
    ...(mode === 'expression' ? [expression] : []),
    ...(mode === 'never' ? [] : askingFields),
  ];
  const settingIn = ({ within = '' }: FieldMark): string | undefined => {
    // The whole approval can be the expression.
    const path = within === '' ? expression.name : within.replace(/^\./, '');
    return shown.find(({ name }) => path === name || /^[.[]/.test(path.slice(name.length)))?.name;
  };
  const elsewhere = marksText(marks.filter((mark) => settingIn(mark) === undefined));
  const setting = (each: NodeField): ReactNode => (
    <Fragment key={each.name}>
      {input({
        field: each,
        value: valueAt(approval, each.name),
        onChange: (next) =>
          onChange(savedApproval(withAt(approval, each.name, next ?? emptyOf(each)))),
        marks: marks.filter((mark) => settingIn(mark) === each.name),
      })}
    </Fragment>
  );
  return (
    <Stack gap="sm">
      <NativeSelect
        label={field.label}
        description={field.hint}
        data={[...approvalModes]}
        value={mode}
        onChange={({ currentTarget }) => {
          const next = approvalModes.find((each) => each.value === currentTarget.value);
          onChange(savedApproval({ ...approval, when: approvalOf[next?.value ?? 'never'] }));
        }}
      />
      {shown.map(setting)}
      {elsewhere !== undefined && <Input.Error>{elsewhere}</Input.Error>}
    </Stack>
  );
}

/** An empty expression is still one. */
const emptyOf = (field: NodeField): string | undefined => (field === expression ? '' : undefined);
