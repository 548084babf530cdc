import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';

const APPLIED_AFTER_MS = 350;

/** A text filter, applied when typing pauses. Follows the URL when it changes by other means. */
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
    // Keeps leading and trailing spaces while the user types.
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
