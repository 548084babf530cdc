import { type KeyboardEvent, type RefObject, useRef, useState } from 'react';
import { useShortcuts } from '#console/src/parts/shortcuts.ts';
import { useLate } from './decision-notes.tsx';
import type { ChoiceProps, DecisionState } from './use-decision.ts';

/** Marks the fields that an approval sends, and the button that opens them. */
export const decisionPart = {
  fields: { 'data-decision': 'fields' },
  edit: { 'data-decision': 'edit' },
} as const;

const partOf = (part: keyof typeof decisionPart): string => `[data-decision="${part}"]`;
const fields = ['input', 'textarea', 'select', '[contenteditable="true"]']
  .map((kind) => `${partOf('fields')} ${kind}:not(:disabled)`)
  .join(',');

/**
 * The two answers to a gate, and their keys. In the fields that an approval sends, Ctrl+Enter approves. In the reason it
 * rejects, if `r` went there to reject: a text alone does not say which answer it is for.
 */
export function useAnswerKeys(
  { gate, known, inbox }: ChoiceProps,
  { decide, check, isReady }: DecisionState,
  form: RefObject<HTMLFormElement | null>,
) {
  const late = useLate(gate.expires_at);
  const [armed, setArmed] = useState(false);
  const reason = useRef<HTMLTextAreaElement>(null);
  const mayReject = !late && isReady && !check.isPending;
  const mayApprove = mayReject && known?.schema_problem == null;
  const approve = (): void => {
    if (mayApprove) decide(true);
  };
  const reject = (): void => {
    if (mayReject) decide(false);
  };
  const keys = {
    a: approve,
    e: () => {
      const button = form.current?.querySelector<HTMLElement>(partOf('edit'));
      // With the focus, which then goes to the first of the fields.
      button?.focus();
      button?.click();
      if (!button) form.current?.querySelector<HTMLElement>(fields)?.focus();
    },
    r: () => {
      setArmed(true);
      reason.current?.focus();
    },
  };
  useShortcuts(inbox && !late ? keys : {});
  const press = (event: KeyboardEvent): void => {
    const field = event.target as HTMLElement;
    if (event.key === 'Escape') {
      setArmed(false);
      // Leaves the field, so that the single-key shortcuts work again.
      return field.blur();
    }
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    const isReason = field === reason.current;
    if (!isReason && !field.matches(fields)) return;
    // Before an editor inserts a line break.
    event.preventDefault();
    event.stopPropagation();
    if (!isReason) approve();
    else if (armed) reject();
  };
  const leaveReason = (): void => {
    // Not if the whole window has lost the focus.
    if (document.activeElement !== reason.current) setArmed(false);
  };
  return { late, mayApprove, mayReject, approve, reject, press, reason, armed, leaveReason };
}

export type AnswerKeys = ReturnType<typeof useAnswerKeys>;
