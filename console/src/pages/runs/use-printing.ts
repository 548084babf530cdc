import { useSyncExternalStore } from 'react';

const media = window.matchMedia('print');
let asked = false;

function subscribe(listener: () => void): () => void {
  const change = ({ type }: Event): void => {
    asked = type === 'beforeprint';
    listener();
  };
  window.addEventListener('beforeprint', change);
  window.addEventListener('afterprint', change);
  media.addEventListener('change', listener);
  return () => {
    window.removeEventListener('beforeprint', change);
    window.removeEventListener('afterprint', change);
    media.removeEventListener('change', listener);
  };
}

/** Whether the page is being printed. What depends on it is rendered before the browser takes the page. */
export const usePrinting = (): boolean =>
  useSyncExternalStore(subscribe, () => asked || media.matches);
