import type { CapabilityOverrides, Role } from './capabilities.ts';

/** Who asks: resolved once per request from the credential, passed to every operation. */
export interface Actor {
  workspaceId: string;
  /** The member the credential stands for; null when it stands for none. */
  id: string | null;
  name: string | null;
  role: Role;
  overrides: CapabilityOverrides;
}
