import { useStore } from '@xyflow/react';
import { type RefObject, useEffect } from 'react';

/**
 * Keeps the zoom of the picture in the CSS variable `--zoom` of its frame, by which labels and handles keep their size
 * on the screen while the cards get smaller. To stand inside ReactFlow.
 */
export function ZoomVariable({ frame }: { frame: RefObject<HTMLElement | null> }) {
  const zoom = useStore(({ transform }) => transform[2]);
  useEffect(() => {
    frame.current?.style.setProperty('--zoom', String(zoom));
  }, [frame, zoom]);
  return null;
}
