import { useEffect, useState } from 'react';

/** Ctrl+K, or Cmd+K, even in fields and dialogs, because it types nothing. */
export function usePaletteOpened() {
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || event.shiftKey || event.altKey) return;
      if (event.ctrlKey === event.metaKey || event.defaultPrevented || event.isComposing) return;
      event.preventDefault();
      setOpened((before) => !before);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return { opened, open: () => setOpened(true), close: () => setOpened(false) };
}
