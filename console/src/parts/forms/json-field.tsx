import { jsonMistakes } from '#console/src/messages/en/parts/fields.ts';
import type { Completable } from '#console/src/parts/code/completion.ts';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { type Judge, useJsonText } from './json-text.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

/** A field for JSON. Invalid JSON is marked and changes nothing. */
export function JsonField({
  label,
  description,
  value,
  onChange,
  judge,
  onBroken,
  error: given,
  minHeight = 80,
  maxHeight = 320,
  readOnly = false,
  completable,
  references = false,
}: {
  label: string;
  description?: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
  judge?: Judge;
  /** Called with whether the text is invalid; the value is then unchanged. */
  onBroken?: (broken: boolean) => void;
  error?: string | undefined;
  minHeight?: number;
  maxHeight?: number;
  readOnly?: boolean;
  /** The names that are offered in braces within strings. */
  completable?: Completable | undefined;
  /** Whether references to values can be inserted. */
  references?: boolean;
}) {
  const { text, error, onText } = useJsonText(value, onChange, judge, onBroken);
  return (
    <CodeEditor
      label={label}
      description={description}
      language="json"
      value={text}
      onChange={onText}
      error={error ?? given}
      minHeight={minHeight}
      maxHeight={maxHeight}
      readOnly={readOnly}
      completable={completable}
      references={references}
    />
  );
}

/** Accepts only an object or undefined. */
export const anObject: Judge = (value) =>
  value === undefined || isRecord(value) ? undefined : jsonMistakes.noObject;
