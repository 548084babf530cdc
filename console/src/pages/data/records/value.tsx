import { Text } from '@mantine/core';
import { value as texts } from '#console/src/messages/en/data/records.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';

const INLINE_CHARACTERS = 120;

/** A value of a record: inline if it is short, otherwise in a JSON view. */
export function Value({ of, what }: { of: unknown; what: string }) {
  const short = inlineText(of);
  if (short === undefined) return <JsonView value={of} what={what} />;
  if (short === '') {
    return (
      <Text span inherit c="dimmed">
        {of === '' ? texts.empty : texts.none}
      </Text>
    );
  }
  return <UserText>{short}</UserText>;
}

/** A short value as text, empty for a missing value. Undefined if it is too long for one line. */
function inlineText(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string' && value.length > INLINE_CHARACTERS) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > INLINE_CHARACTERS || text.includes('\n') ? undefined : text;
}

/** A value truncated to one line, for lists where the full value is one click away. */
export function CutValue({ of }: { of: unknown }) {
  const text = typeof of === 'string' ? of : JSON.stringify(of ?? null);
  const cut = text.length > INLINE_CHARACTERS ? `${text.slice(0, INLINE_CHARACTERS)}…` : text;
  if (of === null || of === undefined || of === '') return <Value of={of} what="" />;
  return <UserText>{cut}</UserText>;
}
