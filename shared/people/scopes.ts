import {
  capabilities,
  type Capability,
  type CapabilityOverrides,
  holds,
  type Role,
} from './capabilities.ts';

/** What a client of `/api/mcp` can ask a member for, and the capabilities behind each word. */
const scopes = {
  view: ['view'],
  run: ['run_workflows', 'cancel_resume'],
  edit: ['create_edit_workflows'],
  manage: ['manage_workspace'],
  decide: ['approve_gates', 'publish_workflows'],
} as const satisfies Record<string, readonly Capability[]>;

export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as Scope[];

/** What a client gets that asks for nothing. It never contains decisions. */
export const defaultScopes: readonly Scope[] = ['view', 'run', 'edit'];

/** Every call of `/api/mcp` needs this one, so it cannot be left out. */
export const requiredScope: Scope = 'view';

/**
 * What a credential without decisions lacks. Approving and assigning need the first; publishing, and running a draft,
 * fork or earlier version that asks less than the published one, the second.
 */
export const decisions: readonly Capability[] = scopes.decide;

/** The known scopes in a space-separated list, in the order of `scopes`; without any, the default ones. */
export function scopesAsked(text: string | undefined): Scope[] {
  const asked = new Set((text ?? '').split(' '));
  const known = scopeNames.filter((name) => asked.has(name));
  if (known.length === 0) return [...defaultScopes];
  return scopeNames.filter((name) => name === requiredScope || known.includes(name));
}

/** The capabilities behind the scopes that the member holds. */
export const capabilitiesFor = (
  granted: readonly Scope[],
  { role, overrides }: { role: Role; overrides: CapabilityOverrides },
): Capability[] =>
  granted
    .flatMap((scope): readonly Capability[] => scopes[scope])
    .filter((name) => holds(role, overrides, name));

/** All capabilities except these. */
export const allBut = (kept: readonly string[]): Capability[] =>
  (Object.keys(capabilities) as Capability[]).filter((name) => !kept.includes(name));
