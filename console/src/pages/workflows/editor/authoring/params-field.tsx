import { Fieldset, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { JsonObject } from '#client/index.ts';
import { secretParamsOf } from '#shared/values/secrets.ts';
import { paramsField as texts } from '#console/src/messages/en/workflows/authoring.ts';
import { AddSelect } from '#console/src/parts/forms/add-select.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';
import { type FieldMark, marksText } from '#console/src/pages/workflows/editor/field-marks.ts';
import type { NodeField } from '#console/src/pages/workflows/editor/node-fields.ts';
import { JsonInState, TextInState } from './text-in-state.tsx';
import { NamedValues } from './named-values.tsx';
import { paramsOf, scalarOf, type ToolParam } from './tool-params.ts';
import { useToolSchema } from './use-tool-schema.ts';

interface ParamsProps {
  field: NodeField;
  /** The name of the tool. */
  tool: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
}

/** The parameters of a tool: a form for the tool's schema, or JSON. Both edit the same value. */
export function ParamsField({ field, tool, value, onChange, marks }: ParamsProps) {
  const name = typeof tool === 'string' ? tool : '';
  const schema = useToolSchema(name);
  const [shown, setShown] = useState('form');
  const inForm = schema !== undefined && (value === undefined || isRecord(value));
  const json = <JsonInState {...{ field, value, onChange, error: marksText(marks) }} />;
  if (!inForm) return json;
  return (
    <Fieldset legend={field.label} px="sm" py="xs">
      <Stack gap="sm">
        <Group justify="flex-end">
          <SegmentedControl
            size="xs"
            aria-label={texts.editAs}
            data={[
              { value: 'form', label: texts.form },
              { value: 'json', label: texts.json },
            ]}
            value={shown}
            onChange={setShown}
          />
        </Group>
        {shown === 'json' ? (
          json
        ) : (
          <ParamsForm
            key={name}
            tool={name}
            params={paramsOf(name, schema, value ?? {})}
            {...{ value: value ?? {}, onChange, marks }}
          />
        )}
      </Stack>
    </Fieldset>
  );
}

function ParamsForm({
  tool,
  params,
  value,
  onChange,
  marks,
}: {
  tool: string;
  params: readonly ToolParam[];
  value: JsonObject;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
}) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const isShown = ({ name, required }: ToolParam): boolean =>
    required || added.includes(name) || Object.hasOwn(value, name);
  const hidden = params.filter((param) => !isShown(param)).map(({ name }) => name);
  const elsewhere = marksText(
    marks.filter((mark) => params.every(({ name }) => placeIn(mark, name) === undefined)),
  );
  const input = (param: ToolParam): ReactNode => (
    <ParamInput
      key={param.name}
      tool={tool}
      param={param}
      value={value[param.name]}
      onChange={(next) => {
        // A parameter that is cleared stays in the form.
        if (!added.includes(param.name)) setAdded([...added, param.name]);
        const { [param.name]: _, ...others } = value;
        onChange(next === undefined ? others : { ...value, [param.name]: next });
      }}
      marks={marks.filter((mark) => placeIn(mark, param.name) !== undefined)}
    />
  );
  return (
    <>
      {params.filter(isShown).map(input)}
      {elsewhere !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {elsewhere}
        </Text>
      )}
      {hidden.length > 0 && (
        <AddSelect
          label={texts.add}
          placeholder={texts.select}
          data={hidden}
          onAdd={(name) => setAdded([...added, name])}
        />
      )}
    </>
  );
}

function ParamInput({
  tool,
  param: { name, description, required, kind, values },
  value,
  onChange,
  marks,
}: {
  tool: string;
  param: ToolParam;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
}) {
  const hints = [
    ...(required ? [texts.required] : []),
    ...(kind === 'expression' ? [texts.example] : description === undefined ? [] : [description]),
    ...(values.length > 0 ? [texts.oneOf(values.join(', '))] : []),
  ];
  const field: NodeField = {
    name,
    label: name,
    input: 'json',
    templates: true,
    ...(hints.length > 0 && { hint: hints.join(' ') }),
  };
  if (kind === 'texts') {
    const secrets = secretParamsOf(tool).includes(name);
    return <NamedValues {...{ field, value, onChange, secrets }} error={marksText(marks)} />;
  }
  if (kind === 'json') {
    return (
      <div>
        <JsonInState {...{ field, value, onChange, error: marksText(marks) }} />
      </div>
    );
  }
  const onText = (text: string): void => {
    if (text === '') onChange(undefined);
    else onChange(kind === 'scalar' ? scalarOf(text) : text);
  };
  return (
    <div>
      <TextInState
        {...{ field, value, onText, values }}
        language={kind === 'expression' ? 'expression' : 'template'}
        marks={marks.filter((mark) => placeIn(mark, name) === '')}
        lines={1}
      />
    </div>
  );
}

/**
 * The position of a mark within a parameter: `[0]` for a mark at `.items[0]` and `items`; undefined if it is elsewhere.
 */
function placeIn({ within = '' }: FieldMark, name: string): string | undefined {
  if (!within.startsWith(`.${name}`)) return undefined;
  const rest = within.slice(name.length + 1);
  return rest === '' || rest.startsWith('.') || rest.startsWith('[') ? rest : undefined;
}
