import { useEffect, useRef } from 'react';

/** Ctrl+Enter, or Cmd+Enter on a Mac, including in code editors: outside dialogs, or within the open dialog. */
export function useRunKey(
  run: () => void,
  { ready, inDialog }: { ready: boolean; inDialog: boolean },
): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (!ready) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      if ((document.querySelector('[aria-modal="true"]') !== null) !== inDialog) return;
      event.preventDefault();
      event.stopPropagation();
      latest.current();
    };
    // Before a code editor handles the key.
    window.addEventListener('keydown', onKey, { capture: true });
    return () => window.removeEventListener('keydown', onKey, { capture: true });
  }, [ready, inDialog]);
}
