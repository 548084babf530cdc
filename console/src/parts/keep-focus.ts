import { type RefObject, useEffect } from 'react';

const fields =
  'input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [contenteditable="true"]';
const others = 'button:not(:disabled), a[href], [tabindex="0"]';

/**
 * Keeps the keyboard's place within an element. If a button is replaced by what it opens, the focus would go to the start
 * of the page: it goes to what came instead, or else to the element itself, which needs a `tabIndex`.
 * `present`: whether the element is there.
 */
export function useKeptFocus(within: RefObject<HTMLElement | null>, present = true): void {
  useEffect(() => {
    const place = within.current;
    if (place === null) return;
    let last: Element | undefined;
    /** What came instead, while the keyboard can reach nothing in it: an editor may still be loading. */
    let awaited: readonly HTMLElement[] = [];
    const enter = ({ target }: FocusEvent): void => {
      last = target instanceof Element ? target : undefined;
      if (target !== place) awaited = [];
    };
    const leave = ({ target }: FocusEvent): void => {
      // An element that is being removed or disabled also loses the focus.
      queueMicrotask(() => {
        if (last === target && last.isConnected && !last.matches(':disabled')) {
          last = undefined;
        }
      });
    };
    const observer = new MutationObserver((records) => {
      const { activeElement: active, body } = document;
      const isLost = last !== undefined && !last.isConnected && active === body;
      if (isLost) awaited = addedBy(records);
      else if (awaited.length === 0 || active !== place) return;
      (firstIn(awaited) ?? place).focus();
    });
    place.addEventListener('focusin', enter);
    place.addEventListener('focusout', leave);
    observer.observe(place, { childList: true, subtree: true });
    return () => {
      place.removeEventListener('focusin', enter);
      place.removeEventListener('focusout', leave);
      observer.disconnect();
    };
  }, [within, present]);
}

const addedBy = (records: readonly MutationRecord[]): HTMLElement[] =>
  records
    .flatMap(({ addedNodes }) => [...addedNodes])
    .filter((node): node is HTMLElement => node instanceof HTMLElement && node.isConnected);

/** One of these if it has a `tabIndex`, or the first field in them, or what else the keyboard reaches. */
function firstIn(added: readonly HTMLElement[]): HTMLElement | undefined {
  const inside = (selector: string): HTMLElement[] =>
    added.flatMap((node) => [
      ...(node.matches(selector) ? [node] : []),
      ...node.querySelectorAll<HTMLElement>(selector),
    ]);
  const own = added.find((node) => node.hasAttribute('tabindex')) ?? inside(fields)[0];
  const isLoading = inside('.mantine-Skeleton-root').length > 0;
  return own ?? (isLoading ? undefined : inside(others)[0]);
}
