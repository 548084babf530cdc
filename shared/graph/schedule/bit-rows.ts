/** One bit set per row, for fast unions and intersections in graph analysis. */
export interface BitRows {
  add(row: number, bit: number): void;
  has(row: number, bit: number): boolean;
  /** Adds all members of row `from` to row `to`. */
  unite(to: number, from: number): void;
  /** Whether two rows intersect. They can be in different tables of the same width. */
  meets(row: number, other: BitRows, otherRow: number): boolean;
  /** The 32-bit words of a row; a view, not a copy. */
  words(row: number): Uint32Array;
}

export function createBitRows(rows: number, bits: number): BitRows {
  const width = Math.ceil(bits / 32);
  const table = new Uint32Array(rows * width);
  const words = (row: number): Uint32Array => table.subarray(row * width, (row + 1) * width);
  return {
    words,
    add(row, bit) {
      table[row * width + (bit >> 5)]! |= 1 << (bit & 31);
    },
    has(row, bit) {
      return (table[row * width + (bit >> 5)]! & (1 << (bit & 31))) !== 0;
    },
    unite(to, from) {
      for (let word = 0; word < width; word += 1) {
        table[to * width + word]! |= table[from * width + word]!;
      }
    },
    meets(row, other, otherRow) {
      const mine = words(row);
      const theirs = other.words(otherRow);
      return mine.some((word, at) => (word & theirs[at]!) !== 0);
    },
  };
}
