import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';

const APPLIED_AFTER_MS = 350;

/** A filter to type in, applied when the typing pauses. Follows the address when that changes by other means. */
export function FilterText({
  value,
  onChange,
  ...input
}: {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
} & Omit<TextInputProps, 'value' | 'onChange'>) {
  const [text, setText] = useState(value ?? '');
  const apply = useDebouncedCallback((typed: string) => onChange(typed.trim() || undefined), {
    delay: APPLIED_AFTER_MS,
    flushOnUnmount: false,
  });
  useEffect(() => {
    // Blanks around what was typed are no reason to take them away under the hand that types.
    setText((shown) => (shown.trim() === (value ?? '') ? shown : (value ?? '')));
  }, [value]);
  return (
    <TextInput
      {...input}
      value={text}
      onChange={({ currentTarget: { value: typed } }) => {
        setText(typed);
        apply(typed);
      }}
    />
  );
}
