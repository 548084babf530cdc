import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useRef } from 'react';

/** Up to this many rows, all are rendered, so that the browser's search finds them. */
const ALL_ROWS = 100;

export interface Windowed<Frame extends HTMLElement> {
  /** For the element that scrolls. */
  frame: RefObject<Frame | null>;
  /** Indexes of the rows to render. */
  rows: number[];
  /** Height of the omitted rows above and below, in pixels. */
  before: number;
  after: number;
  scrollTo: (row: number) => void;
}

/**
 * Renders only the visible rows of a long list. All rows have the same height, in pixels. `head` is the height of a
 * heading that stays in view above them.
 */
export function useWindowed<Frame extends HTMLElement = HTMLDivElement>(
  count: number,
  rowHeight: number,
  head = 0,
): Windowed<Frame> {
  const frame = useRef<Frame>(null);
  const few = count <= ALL_ROWS;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingEnd: head,
    enabled: !few,
  });
  if (few) {
    return {
      frame,
      rows: Array.from({ length: count }, (_, row) => row),
      before: 0,
      after: 0,
      scrollTo: (row) => scrollInto(frame.current, row * rowHeight, rowHeight + head),
    };
  }
  const drawn = virtualizer.getVirtualItems();
  return {
    frame,
    rows: drawn.map(({ index }) => index),
    before: drawn[0]?.start ?? 0,
    after: virtualizer.getTotalSize() - (drawn.at(-1)?.end ?? 0),
    scrollTo: (row) => virtualizer.scrollToIndex(row, { align: 'auto' }),
  };
}

function scrollInto(frame: HTMLElement | null, top: number, height: number): void {
  if (frame === null) return;
  const bottom = top + height;
  if (top < frame.scrollTop) frame.scrollTop = top;
  else if (bottom > frame.scrollTop + frame.clientHeight) {
    frame.scrollTop = bottom - frame.clientHeight;
  }
}
