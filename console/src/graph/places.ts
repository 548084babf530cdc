/** The top left corner of a card, in graph coordinates. */
export type Place = { x: number; y: number };
/** The corners of cards by node id. */
export type Places = ReadonlyMap<string, Place>;
