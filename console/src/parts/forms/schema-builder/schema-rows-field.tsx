import { Button, Group, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useRef } from 'react';
import { schemaBuilder as texts } from '#console/src/messages/en/parts/schema-builder.ts';
import { newRow, problemOfRow, type SchemaRow } from './schema-rows.ts';
import { SchemaRowFields } from './schema-row-fields.tsx';

/** The rows of an object; `of` names it, if it is within another. */
export function SchemaRows({
  rows,
  onChange,
  of,
}: {
  rows: readonly SchemaRow[];
  onChange: (rows: readonly SchemaRow[]) => void;
  of?: string;
}) {
  const added = useRef<number>(undefined);
  return (
    <Stack gap="xs">
      {rows.map((row, at) => (
        <SchemaRowFields
          key={row.key}
          row={row}
          place={of === undefined ? String(at + 1) : texts.within(at + 1, of)}
          problem={problemOfRow(rows, at)}
          isNew={added.current === row.key}
          onChange={(next) => onChange(rows.with(at, next))}
          onRemove={() => onChange(rows.toSpliced(at, 1))}
          onMove={
            at === 0 ? undefined : () => onChange(rows.toSpliced(at, 1).toSpliced(at - 1, 0, row))
          }
          nested={(inner, change) => (
            <SchemaRows rows={inner} onChange={change} of={row.name || String(at + 1)} />
          )}
        />
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => {
            const row = newRow();
            added.current = row.key;
            onChange([...rows, row]);
          }}
        >
          {of === undefined ? texts.add : texts.addTo(of)}
        </Button>
      </Group>
    </Stack>
  );
}
