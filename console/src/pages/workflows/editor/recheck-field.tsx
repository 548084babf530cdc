import { Checkbox, Stack } from '@mantine/core';
import { recheckField as text } from '#console/src/messages/en/workflows/node-fields.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { NumberField } from '#console/src/parts/forms/number-field.tsx';
import type { NodeField } from './node-fields.ts';

/** Whether an approval of a gate repeats the reads behind it, and how old they must be. */
export function RecheckField({
  field,
  value,
  onChange,
  error,
}: {
  field: NodeField;
  /** True, or an object with `after_seconds`. */
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
}) {
  const isOn = value === true || isRecord(value);
  return (
    <Stack gap="sm">
      <Checkbox
        label={field.label}
        description={field.hint}
        error={error}
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked || undefined)}
      />
      {isOn && (
        <NumberField
          label={text.after.label}
          description={text.after.hint}
          value={isRecord(value) ? value['after_seconds'] : undefined}
          min={0}
          max={31_536_000}
          onChange={(seconds) =>
            onChange(seconds === undefined ? true : { after_seconds: seconds })
          }
        />
      )}
    </Stack>
  );
}
