import { useState } from 'react';
import { jsonMistakes } from '#console/src/messages/en/parts/fields.ts';

/** The error text for a value; undefined if the value is valid. */
export type Judge = (value: unknown) => string | undefined;

/**
 * JSON as editable text. The text stays as typed while it parses to `value` or is invalid; a change of the value
 * elsewhere replaces the text. An empty text is `undefined`.
 */
export function useJsonText(
  value: unknown,
  onValue: (value: unknown) => void,
  judge: Judge = () => undefined,
  onBroken?: (broken: boolean) => void,
) {
  const [typed, setTyped] = useState<{ text: string; of: unknown; error: string | undefined }>();
  const mine = typed !== undefined && Object.is(typed.of, value);
  const text = mine ? typed.text : jsonText(value);
  const onText = (next: string): void => {
    // The editor also reports text set by the program.
    if (next === text) return;
    const read = parsed(next, judge);
    onBroken?.('error' in read);
    if ('error' in read) return setTyped({ text: next, of: value, error: read.error });
    setTyped({ text: next, of: read.value, error: undefined });
    onValue(read.value);
  };
  return { text, error: mine ? typed.error : undefined, onText };
}

export const jsonText = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, null, 2);

function parsed(text: string, judge: Judge): { value: unknown } | { error: string } {
  if (text.trim() === '') {
    const error = judge(undefined);
    return error === undefined ? { value: undefined } : { error };
  }
  try {
    const value: unknown = JSON.parse(text);
    const error = judge(value);
    return error === undefined ? { value } : { error };
  } catch (error) {
    return { error: jsonMistakes.invalid(error instanceof Error ? error.message : String(error)) };
  }
}
