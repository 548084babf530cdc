/** One set of small numbers per row, packed: unions and intersections of rows are what graph analysis does all day. */
export interface BitRows {
  add(row: number, bit: number): void;
  has(row: number, bit: number): boolean;
  /** Adds everything in row `from` to row `to`. */
  unite(to: number, from: number): void;
  /** Whether two rows, maybe of two tables of one width, have something in common. */
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
