import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Graph, JsonObject } from '#client/index.ts';
import { inputPanel as text } from '#console/src/messages/en/workflows/workflow.ts';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { fieldsOfSchema, startOfSchema } from '#console/src/parts/forms/schema-fields.ts';
import { SchemaForm } from '#console/src/parts/forms/schema-form.tsx';
import { useChecker } from './mistakes/use-mistakes.ts';

interface InputPanelProps {
  graph: Graph;
  schema: JsonObject | null;
  onChange: (schema: JsonObject | null) => void;
}

/** The input schema of runs, and the form that the run dialog shows for it. */
export function InputPanel({ graph, schema, onChange }: InputPanelProps) {
  return (
    <Stack gap="sm">
      <JsonField
        label={text.schema}
        description={text.schemaAbout}
        value={schema ?? undefined}
        judge={anObject}
        minHeight={200}
        maxHeight={420}
        onChange={(value) => onChange((value as JsonObject | undefined) ?? null)}
      />
      {schema === null && <FromGraph graph={graph} onMade={onChange} />}
      {fieldsOfSchema(schema) !== undefined && schema !== null && (
        <Preview key={JSON.stringify(schema)} schema={schema} />
      )}
    </Stack>
  );
}

/** Offers a schema with a text for each key that the graph reads and no node sets. */
function FromGraph({ graph, onMade }: { graph: Graph; onMade: (schema: JsonObject) => void }) {
  const keys = useChecker()?.inputKeys(graph) ?? [];
  if (keys.length === 0) return null;
  const make = (): void =>
    onMade({
      type: 'object',
      properties: Object.fromEntries(keys.map((key) => [key, { type: 'string' }])),
      required: keys,
    });
  return (
    <Button variant="default" size="compact-sm" w="fit-content" onClick={make}>
      {text.fromGraph}
    </Button>
  );
}

/** The entered values are not used. */
function Preview({ schema }: { schema: JsonObject }) {
  const [value, setValue] = useState(() => startOfSchema(schema));
  return (
    <>
      <Text size="sm" fw={500}>
        {text.previewTitle}
      </Text>
      <SchemaForm
        schema={schema}
        value={value}
        onChange={setValue}
        onBroken={() => undefined}
        label={text.preview}
      />
    </>
  );
}
