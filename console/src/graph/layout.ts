import LayoutWorker from './layout-worker.ts?worker';
import { bodiesOf } from './bodies.ts';
import type { Drawing } from './drawn.ts';
import type { Places } from './places.ts';
import type { LayoutAnswer, LayoutRequest } from '#console/src/graph/layout-worker.ts';

export const nodeSize = { width: 200, height: 84 } as const;

let worker: Worker | undefined;
let tickets = 0;

/** From the top of a card to its bottom. */
const portOrder: readonly unknown[] = ['true', undefined, 'false', 'error'];

const inPortOrder = ({ edges }: Drawing): LayoutRequest['edges'] =>
  edges
    .map(({ source, target, conditionValue }) => {
      return { source, target, port: portOrder.indexOf(conditionValue) };
    })
    .toSorted((a, b) => a.port - b.port);

/**
 * Positions of all nodes, from left to right, computed in a worker: top left corners in graph coordinates. Rejects when
 * the signal aborts or the worker fails.
 */
export function layOut(drawing: Drawing, signal: AbortSignal): Promise<Places> {
  const { nodes } = drawing;
  worker ??= new LayoutWorker();
  const at = worker;
  const ticket = (tickets += 1);
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      at.removeEventListener('message', take);
      at.removeEventListener('error', fail);
      signal.removeEventListener('abort', give);
    };
    const take = ({ data }: MessageEvent<LayoutAnswer>): void => {
      if (data.ticket !== ticket) return;
      stop();
      resolve(new Map(data.places.map(({ id, x, y }) => [id, { x, y }])));
    };
    const fail = ({ message }: ErrorEvent): void => {
      stop();
      // Its file may not have arrived.
      worker = undefined;
      reject(new Error(message));
    };
    const give = (): void => {
      stop();
      reject(signal.reason as Error);
    };
    at.addEventListener('message', take);
    at.addEventListener('error', fail);
    signal.addEventListener('abort', give);
    const request: LayoutRequest = {
      ticket,
      nodes: nodes.map(({ id }) => id),
      // The layout keeps this order among the targets of a node if it can.
      edges: inPortOrder(drawing),
      groups: bodiesOf(drawing).map(({ members }) => [...members]),
      nodeSize,
    };
    at.postMessage(request);
  });
}
