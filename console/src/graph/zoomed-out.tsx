import { useStore } from '@xyflow/react';
import { useEffect } from 'react';

/** Below this zoom, the texts of the graph are larger than the graph, and only the most important ones are shown. */
const FAR = 0.6;

/** Marks the drawing that this is a part of while it is zoomed out, for its styles. */
export function ZoomedOut() {
  const far = useStore(({ transform: [, , zoom] }) => zoom < FAR);
  const drawing = useStore(({ domNode }) => domNode);
  useEffect(() => {
    drawing?.toggleAttribute('data-far', far);
  }, [drawing, far]);
  return null;
}
