import { Button, Stack } from '@mantine/core';
import type { Graph, JsonObject } from '#client/index.ts';
import { inputPanel as text } from '#console/src/messages/en/workflows/workflow.ts';
import { SchemaBuilder } from '#console/src/parts/forms/schema-builder/schema-builder.tsx';
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
      <SchemaBuilder
        label={text.schema}
        description={text.schemaAbout}
        value={schema ?? undefined}
        onChange={(value) => onChange(value ?? null)}
      />
      {schema === null && <FromGraph graph={graph} onMade={onChange} />}
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
