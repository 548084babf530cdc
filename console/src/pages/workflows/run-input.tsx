import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { JsonObject, Workflow } from '#client/index.ts';
import { runInput as text } from '#console/src/messages/en/workflows/workflow.ts';
import { JsonField } from '#console/src/parts/forms/json-field.tsx';
import { startOfSchema } from '#console/src/parts/forms/schema-fields.ts';
import { SchemaForm } from '#console/src/parts/forms/schema-form.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';
import { useChecker } from './mistakes/use-mistakes.ts';

/** The defaults of the input's schema; without a schema, the keys that the graph reads and no node sets. */
export function useSuggestedInput({
  graph,
  input_schema: schema,
}: Pick<Workflow, 'graph' | 'input_schema'>): JsonObject {
  const checker = useChecker();
  return useMemo(
    () =>
      schema === null
        ? Object.fromEntries((checker?.inputKeys(graph) ?? []).map((key) => [key, '']))
        : startOfSchema(schema),
    [checker, graph, schema],
  );
}

/** The input of a run: a form for its schema, or JSON. */
export function RunInput({
  label,
  schema,
  refusal,
  value,
  suggested,
  onChange,
  onBroken,
}: {
  label: string;
  schema: JsonObject | null;
  /** The service's error about the value. */
  refusal?: string | undefined;
  value: JsonObject;
  suggested: JsonObject;
  onChange: (value: JsonObject) => void;
  onBroken: (broken: boolean) => void;
}) {
  if (schema !== null) {
    return <SchemaForm {...{ schema, value, onChange, onBroken, refusal, label }} />;
  }
  return (
    <>
      <JsonField
        label={label}
        description={text.about}
        value={value}
        judge={anInput}
        onBroken={onBroken}
        onChange={(next) => onChange(isRecord(next) ? next : {})}
        minHeight={140}
      />
      <Text size="sm" c="dimmed">
        {Object.keys(suggested).length === 0
          ? text.noneExpected
          : text.expected(Object.keys(suggested).join(', '))}
      </Text>
    </>
  );
}

const anInput = (value: unknown): string | undefined =>
  isRecord(value) ? undefined : text.notAnObject;
