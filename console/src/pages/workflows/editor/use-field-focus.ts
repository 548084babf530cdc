import { type RefObject, useCallback, useEffect, useState } from 'react';

/** The editor of an expression or of JSON is loaded when it is first shown, over whatever line there is. */
const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 50;
const FOCUSABLE = 'input, textarea, select, .cm-content, button';

/**
 * Puts the focus into a form's field by the field's name (`data-field`), once it is there. `focused` is the name, so
 * that what hides the field can show it.
 */
export function useFieldFocus(form: RefObject<HTMLElement | null>) {
  const [wanted, setWanted] = useState<{ field: string | undefined }>({ field: undefined });
  useEffect(() => {
    const { field } = wanted;
    if (field === undefined) return;
    const until = Date.now() + WAIT_MS;
    const before = document.activeElement;
    let timer: ReturnType<typeof setTimeout>;
    const look = (): void => {
      // The focus is not moved back when the user has gone elsewhere.
      const { activeElement } = document;
      if (activeElement !== before && activeElement !== document.body) return;
      const control = controlOf(form.current, field);
      if (control !== undefined) return control.focus();
      if (Date.now() < until) timer = setTimeout(look, LOOK_EVERY_MS);
    };
    // What hides the field opens first.
    timer = setTimeout(look, LOOK_EVERY_MS);
    return () => clearTimeout(timer);
  }, [wanted, form]);
  const focusField = useCallback((field: string | undefined) => setWanted({ field }), []);
  return { focused: wanted.field, focusField };
}

function controlOf(form: HTMLElement | null, field: string): HTMLElement | undefined {
  const part = form?.querySelector<HTMLElement>(`[data-field="${CSS.escape(field)}"]`);
  if (part == null) return undefined;
  return part.matches(FOCUSABLE) ? part : (part.querySelector<HTMLElement>(FOCUSABLE) ?? undefined);
}
