import { createContext } from 'react';
import type { PortId } from './ports.ts';

/** What the cards of an editor can do. */
export interface CardActions {
  /** Adds a node after this one, from this port, with the palette beside the handle. */
  onAddFrom: (nodeId: string, port: PortId, handle: Element) => void;
  /** Tests a node. Undefined for members who may not. */
  onTest: ((nodeId: string) => void) | undefined;
}

/** Undefined where a graph is only read. */
export const CardActionsContext = createContext<CardActions | undefined>(undefined);
