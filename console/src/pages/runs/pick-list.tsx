import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useWindowed } from '#console/src/parts/data/windowed.ts';

interface PickListProps {
  label: string;
  count: number;
  rowHeight: number;
  maxHeight: number;
  /** The row to scroll into view when it changes. */
  picked: number | undefined;
  onPick: (row: number) => void;
  /** Several rows may belong to the selection. */
  isPicked: (row: number) => boolean;
  /** The text for screen readers, if the row's own text is incomplete. */
  spoken?: (row: number) => string;
  row: (row: number) => ReactNode;
  /** Stays at the last row while rows are added, unless the user scrolled away from it. */
  keepAtEnd?: boolean;
}

/**
 * A windowed list with one selected row, chosen by mouse or, when the list has the focus, with the arrow keys. Screen
 * readers read each row's text, or its `spoken` text.
 */
export function PickList({
  label,
  count,
  rowHeight,
  maxHeight,
  picked,
  onPick,
  isPicked,
  spoken,
  row,
  keepAtEnd = false,
}: PickListProps) {
  const id = useId();
  const { frame, rows, before, after, scrollTo } = useWindowed(count, rowHeight);
  const [active, setActive] = useState<number>();
  const atEnd = useRef(keepAtEnd);
  const shown = active !== undefined && active < count ? active : picked;

  useEffect(() => {
    // The active row is selected and in view, although `picked` may be another row of the same step.
    if (picked === undefined || (active !== undefined && isPicked(active))) return;
    setActive(picked);
    scrollTo(picked);
    // Only when the picked row changes, not on every render.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [picked]);
  useEffect(() => {
    if (keepAtEnd && atEnd.current && count > 0) scrollTo(count - 1);
    // Only when rows are added, not on every render.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [count, keepAtEnd]);

  const pick = (chosen: number): void => {
    setActive(chosen);
    onPick(chosen);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = nextRow(event.key, shown, count, Math.floor(maxHeight / rowHeight));
    if (next === undefined) return;
    event.preventDefault();
    scrollTo(next);
    pick(next);
  };
  return (
    <div
      ref={frame}
      className="pick-list"
      style={{ maxHeight }}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={
        shown !== undefined && rows.includes(shown) ? `${id}-${shown}` : undefined
      }
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        atEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight;
      }}
    >
      <div style={{ height: before }} />
      {rows.map((index) => (
        <div
          key={index}
          id={`${id}-${index}`}
          role="option"
          className="pick-row"
          style={{ height: rowHeight }}
          aria-selected={isPicked(index)}
          aria-label={spoken?.(index)}
          aria-setsize={count}
          aria-posinset={index + 1}
          data-active={index === shown || undefined}
          onClick={() => pick(index)}
        >
          {row(index)}
        </div>
      ))}
      <div style={{ height: after }} />
    </div>
  );
}

function nextRow(
  key: string,
  from: number | undefined,
  count: number,
  page: number,
): number | undefined {
  if (count === 0) return undefined;
  const inside = (row: number): number => Math.min(Math.max(row, 0), count - 1);
  switch (key) {
    case 'ArrowDown':
      return inside((from ?? -1) + 1);
    case 'ArrowUp':
      return inside((from ?? count) - 1);
    case 'PageDown':
      return inside((from ?? 0) + page);
    case 'PageUp':
      return inside((from ?? 0) - page);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
