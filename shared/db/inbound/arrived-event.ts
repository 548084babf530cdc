/** An inbound event as it arrived. */
export interface ArrivedEvent {
  id: string;
  /** The network of the sender. */
  source: string;
  headers: Record<string, string>;
  /** Size of the body in bytes; null: it was not read. */
  size: number | null;
  /** The first bytes of the body. */
  body: Buffer | null;
  eventId: string | null;
}
