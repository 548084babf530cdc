/** The selection in the drawing. */
export interface Selection {
  nodes: readonly string[];
  /** IDs of drawn edges. */
  edges: readonly string[];
}
