import { type RefObject, useCallback, useEffect, useState } from 'react';

/** Expression and JSON editors load when they are first shown, possibly over a slow connection. */
const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 50;
const FOCUSABLE = 'input, textarea, select, .cm-content, button';

/**
 * Focuses a form's field by its name (`data-field`) once it is rendered. `focused` is the name, so that a collapsed
 * group can open for the field.
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
      // The user has moved the focus, so it is left there.
      const { activeElement } = document;
      if (activeElement !== before && activeElement !== document.body) return;
      const control = controlOf(form.current, field);
      if (control !== undefined) return control.focus();
      if (Date.now() < until) timer = setTimeout(look, LOOK_EVERY_MS);
    };
    // Collapsed groups open first.
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
