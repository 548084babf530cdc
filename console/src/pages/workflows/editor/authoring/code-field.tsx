import { useMemo } from 'react';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { type FieldMark, marksText } from '#console/src/pages/workflows/editor/field-marks.ts';
import type { NodeField } from '#console/src/pages/workflows/editor/node-fields.ts';
import { useScope } from './scope.ts';

/** The source of a code node: with completion of the keys of the state, and the mistakes that the service finds. */
export function CodeField({
  field,
  language,
  value,
  onText,
  marks,
}: {
  field: NodeField;
  language: unknown;
  value: unknown;
  onText: (text: string) => void;
  marks: readonly FieldMark[];
}) {
  const { completable } = useScope();
  const text = typeof value === 'string' ? value : '';
  const placed = useMemo(
    () =>
      marks.flatMap(({ message, position, severity }) =>
        position === undefined ? [] : [{ from: position, to: position + 1, message, severity }],
      ),
    [marks],
  );
  return (
    <CodeEditor
      label={field.label}
      description={field.hint}
      error={marksText(marks)}
      language={language === 'typescript' ? 'typescript' : 'javascript'}
      value={text}
      marks={placed}
      completable={completable}
      minHeight={160}
      maxHeight={560}
      onChange={(next) => {
        if (next !== text) onText(next);
      }}
    />
  );
}
