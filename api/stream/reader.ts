import type { Actor } from '#shared/people/actor.ts';
import type { WatchedCredential } from './session-watch.ts';

/** Who reads a stream, and what ends it. */
export interface StreamReader {
  actor: Actor;
  watched: WatchedCredential;
  /** Whose slots it takes. A member who watches has their own; a token can have many holders, so their networks count. */
  memberId: string | undefined;
}
