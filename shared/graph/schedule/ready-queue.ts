/**
 * A priority queue, smallest first. It is a binary heap, because a fan-out of a thousand nodes that are taken a few at
 * a time would otherwise be sorted for each removal.
 */
export interface ReadyQueue<Entry> {
  push(entry: Entry): void;
  pop(): Entry | undefined;
}

export function createReadyQueue<Entry>(
  precedes: (a: Entry, b: Entry) => boolean,
): ReadyQueue<Entry> {
  const heap: Entry[] = [];
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  const rise = (start: number): void => {
    for (let at = start; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!precedes(heap[at]!, heap[parent]!)) return;
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (): void => {
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const child = right < heap.length && precedes(heap[right]!, heap[left]!) ? right : left;
      if (!precedes(heap[child]!, heap[at]!)) return;
      swap(at, child);
      at = child;
    }
  };
  return {
    push(entry) {
      heap.push(entry);
      rise(heap.length - 1);
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length > 0 && last !== undefined) {
        heap[0] = last;
        sink();
      }
      return first;
    },
  };
}
