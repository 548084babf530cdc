import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { jsonText } from '#console/src/parts/forms/json-text.ts';
import { type FieldMark, marksText } from '#console/src/pages/workflows/editor/field-marks.ts';
import type { NodeField } from '#console/src/pages/workflows/editor/node-fields.ts';
import { FieldValue } from './field-value.tsx';
import { useScope } from './scope.ts';

/** The word at a mark. For an invalid text, only the start of the error is known. */
const WORD = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;

/** The same delay as for the check of the graph. */
const PAUSE_MS = 250;
const NO_VALUES: readonly string[] = [];

/** A template or expression: with completion, underlined mistakes, and its value in the selected run. */
export function TextInState({
  field,
  language,
  value,
  onText,
  marks,
  values = NO_VALUES,
  lines = 2,
}: {
  field: NodeField;
  language: 'template' | 'expression';
  value: unknown;
  onText: (text: string) => void;
  marks: readonly FieldMark[];
  /** Texts that are offered as the whole value. */
  values?: readonly string[];
  /** The height of an empty template. */
  lines?: 1 | 2;
}) {
  const { completable: known } = useScope();
  const completable = useMemo(
    () => (known === undefined || values.length === 0 ? known : { ...known, values }),
    [known, values],
  );
  const text = typeof value === 'string' ? value : jsonText(value);
  const all = useMarks(field, language, text, marks);
  const placed = useMemo(() => marksIn(text, all), [text, all]);
  return (
    <>
      <CodeEditor
        label={field.label}
        description={field.hint}
        error={marksText(all)}
        language={language}
        value={text}
        marks={placed}
        completable={completable}
        references
        minHeight={language === 'template' && lines === 2 ? 52 : 28}
        maxHeight={language === 'template' ? 280 : 200}
        onChange={(next) => {
          if (next !== text) onText(next);
        }}
      />
      {field.locals === undefined && (
        <FieldValue label={field.label} language={language} value={value} />
      )}
    </>
  );
}

/** JSON whose strings are templates, or plain JSON. */
export function JsonInState({
  field,
  value,
  onChange,
  error,
}: {
  field: NodeField;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
}) {
  const { completable } = useScope();
  return (
    <>
      <JsonField
        label={field.label}
        description={field.hint}
        error={error}
        value={value}
        onChange={onChange}
        completable={field.templates === true ? completable : undefined}
        references={field.templates === true}
        {...(['object', 'params', 'schema'].includes(field.input) && { judge: anObject })}
      />
      {field.templates === true && (
        <FieldValue label={field.label} language="value" value={value} />
      )}
    </>
  );
}

/**
 * The mistakes that the check reports, and keys that the selected run does not have and that are probably misspelled.
 */
function useMarks(
  field: NodeField,
  language: 'template' | 'expression',
  text: string,
  marks: readonly FieldMark[],
): readonly FieldMark[] {
  const { completable, state, misspelledIn } = useScope();
  const [settled] = useDebouncedValue(text, PAUSE_MS);
  return useMemo(() => {
    if (state === undefined || field.locals !== undefined) return marks;
    const taken = new Set(marks.map(({ position }) => position));
    const found = (misspelledIn?.(language, settled, completable?.names ?? []) ?? [])
      .filter(({ position }) => !taken.has(position))
      .map((each): FieldMark => ({ ...each, severity: 'warning' }));
    return found.length === 0 ? marks : [...marks, ...found];
  }, [state, completable, misspelledIn, language, settled, marks, field.locals]);
}

function marksIn(text: string, marks: readonly FieldMark[]) {
  return marks.flatMap(({ message, position, severity }) => {
    if (position === undefined) return [];
    WORD.lastIndex = position;
    const word = WORD.exec(text)?.[0] ?? ' ';
    return [{ from: position, to: position + word.length, message, severity }];
  });
}
