import { useStore } from '@xyflow/react';
import { type RefObject, useEffect } from 'react';

/**
 * Writes the zoom of the graph to the CSS variable `--zoom` of its frame, so that labels and handles keep their size on
 * the screen. Must be inside ReactFlow.
 */
export function ZoomVariable({ frame }: { frame: RefObject<HTMLElement | null> }) {
  const zoom = useStore(({ transform }) => transform[2]);
  useEffect(() => {
    frame.current?.style.setProperty('--zoom', String(zoom));
  }, [frame, zoom]);
  return null;
}
