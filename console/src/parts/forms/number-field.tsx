import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

/** A field for an optional number. The text stays as typed while it equals the value: `0.` is the start of `0.5`. */
export function NumberField({
  value,
  onChange,
  ...props
}: Omit<NumberInputProps, 'value' | 'onChange' | 'defaultValue'> & {
  value: unknown;
  onChange: (value: number | undefined) => void;
}) {
  const [typed, setTyped] = useState<{ text: number | string; of: unknown }>();
  const mine = typed !== undefined && Object.is(typed.of, value);
  return (
    <NumberInput
      {...props}
      clampBehavior="none"
      value={mine ? typed.text : typeof value === 'number' ? value : ''}
      onChange={(text) => {
        const number = text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
        setTyped({ text, of: number });
        if (!Object.is(number, value)) onChange(number);
      }}
    />
  );
}
