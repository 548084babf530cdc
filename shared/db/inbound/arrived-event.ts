/** An inbound event as it arrived. */
export interface ArrivedEvent {
  id: string;
  /** The network of the sender. */
  source: string;
  headers: Record<string, string>;
  /** Bytes of the body; null: it was not read. */
  size: number | null;
  /** Its first bytes. */
  body: Buffer | null;
  eventId: string | null;
}
