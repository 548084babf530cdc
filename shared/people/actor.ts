import { type Capability, type CapabilityOverrides, holds, type Role } from './capabilities.ts';
import { AppError, forbiddenWithout } from '#shared/errors.ts';

/** The authenticated caller. It is resolved from the credential once per request, and passed to every operation. */
export interface Actor {
  workspaceId: string;
  /** The credential's member; null when it has none. */
  id: string | null;
  name: string | null;
  role: Role;
  /** Those of the member, with `false` for everything withheld. */
  overrides: CapabilityOverrides;
  /**
   * What the credential withholds from its holder. Code that reads a member again must apply it again, with `without`;
   * otherwise the credential would regain it.
   */
  withheld?: readonly Capability[];
  /** Its credential; undefined when the service acts for it. */
  signedIn?: SignedIn;
}

/**
 * How the caller of a request has signed in. `none`: in open mode, without a credential. `link`: not at all, but with the
 * link of an email to the member. `slack`: not at all, but in Slack, with the account that the member has confirmed.
 */
export type SignedIn =
  | { by: 'session' | 'none' | 'link' }
  | { by: 'slack'; team_id: string; user_id: string }
  | { by: 'api_key'; key_id: string }
  | { by: 'authorization'; authorization_id: string; client: string };

/**
 * A member who acts in person: in a session or, in open mode, without a credential. A key or a client cannot do what gives
 * others the rights of its member. Throws AppError `forbidden`.
 */
export function inPerson(actor: Actor, act: string): Actor & { id: string } {
  const { id, signedIn } = actor;
  if (id !== null && (signedIn?.by === 'session' || signedIn?.by === 'none')) {
    return { ...actor, id };
  }
  throw new AppError('forbidden', `Only a member who is signed in can ${act}`);
}

/** Throws AppError `forbidden` with the capability when the actor does not hold it. */
export function requireCapability(
  actor: Pick<Actor, 'role' | 'overrides'>,
  capability: Capability,
): void {
  if (!holds(actor.role, actor.overrides, capability)) throw forbiddenWithout(capability);
}
