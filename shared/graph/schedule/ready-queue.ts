/**
 * A priority queue of numbers, smallest first. A binary heap, since a fan-out of a thousand nodes taken a few at a time
 * would otherwise sort for each removal.
 */
export interface ReadyQueue {
  push(value: number): void;
  pop(): number | undefined;
}

export function createReadyQueue(): ReadyQueue {
  const heap: number[] = [];
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  const rise = (start: number): void => {
    for (let at = start; at > 0;) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= heap[at]!) return;
      swap(at, parent);
      at = parent;
    }
  };
  const sink = (): void => {
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const child = left + 1 < heap.length && heap[left + 1]! < heap[left]! ? left + 1 : left;
      if (heap[at]! <= heap[child]!) return;
      swap(at, child);
      at = child;
    }
  };
  return {
    push(value) {
      heap.push(value);
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
