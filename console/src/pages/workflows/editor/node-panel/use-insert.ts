import { type FocusEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { insertReference, TAKES_REFERENCES } from '#console/src/parts/code/references.ts';

/**
 * Inserts references into the field that had the focus last, or else the first that takes them. `show` brings the fields
 * into view first.
 */
export function useInsert(fields: RefObject<HTMLElement | null>, show: () => void) {
  const last = useRef<Element>(undefined);
  const [wanted, setWanted] = useState<{ path: string }>();
  useEffect(() => {
    if (wanted === undefined) return;
    const field =
      last.current?.isConnected === true
        ? last.current
        : fields.current?.querySelector(TAKES_REFERENCES);
    if (field != null) insertReference(field, wanted.path);
  }, [wanted, fields]);
  return {
    insert: (path: string): void => {
      show();
      setWanted({ path });
    },
    onFocus: ({ target }: FocusEvent): void => {
      last.current = target.closest(TAKES_REFERENCES) ?? undefined;
    },
  };
}
