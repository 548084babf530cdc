import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import { fieldValue as texts } from '#console/src/messages/en/workflows/authoring.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { TextLanguage } from './evaluator.ts';
import { useScope } from './scope.ts';

const PAUSE_MS = 150;
const SHOWN_CHARACTERS = 600;

/**
 * The value of a field with the state of the selected run, below the field. Renders nothing without a run or
 * references.
 */
export function FieldValue({
  label,
  language,
  value,
}: {
  label: string;
  language: TextLanguage;
  value: unknown;
}) {
  const { state, evaluate } = useScope();
  const [settled] = useDebouncedValue(value, PAUSE_MS);
  const result = useMemo(
    () =>
      state === undefined || evaluate === undefined || isEmpty(settled)
        ? undefined
        : evaluate(language, settled, state),
    [state, evaluate, language, settled],
  );
  if (result === undefined) return null;
  // Without references, a template is its own value.
  if ('value' in result && language !== 'expression' && isSame(result.value, settled)) return null;
  const failed = 'error' in result;
  return (
    <div
      className="editor-value"
      role="note"
      aria-label={texts.title(label)}
      {...(failed && { 'data-failed': true })}
    >
      <span className="editor-value-sign" aria-hidden>
        =
      </span>
      <span className="editor-value-text" dir="auto">
        <UserText>{failed ? texts.none(result.error) : textOf(result.value)}</UserText>
      </span>
    </div>
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value.trim() === '');

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === '') return texts.emptyText;
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
