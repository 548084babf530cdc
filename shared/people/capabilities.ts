/** The capabilities of credentials, and the roles that hold them by default. */
export const roles = ['admin', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const capabilities = {
  view: ['admin', 'editor', 'viewer'],
  run_workflows: ['admin', 'editor'],
  approve_gates: ['admin', 'editor'],
  cancel_resume: ['admin', 'editor'],
  create_edit_workflows: ['admin', 'editor'],
  publish_workflows: ['admin', 'editor'],
  delete_workflows: ['admin'],
  manage_members: ['admin'],
  manage_api_keys: ['admin'],
  manage_workspace: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

export type Capability = keyof typeof capabilities;

export type CapabilityOverrides = Partial<Record<Capability, boolean | null>>;

/** The member's override if there is one, otherwise the role's default. */
export function holds(role: Role, overrides: CapabilityOverrides, capability: Capability): boolean {
  return overrides[capability] ?? (capabilities[capability] as readonly Role[]).includes(role);
}

/** The overrides of a credential that withholds some of its member's capabilities. */
export const without = (
  overrides: CapabilityOverrides,
  withheld: readonly Capability[] = [],
): CapabilityOverrides =>
  withheld.length === 0
    ? overrides
    : { ...overrides, ...Object.fromEntries(withheld.map((name) => [name, false])) };

/** Every capability, with whether the member holds it. */
export function heldCapabilities(
  role: Role,
  overrides: CapabilityOverrides,
): Record<Capability, boolean> {
  const names = Object.keys(capabilities) as Capability[];
  return Object.fromEntries(names.map((name) => [name, holds(role, overrides, name)])) as Record<
    Capability,
    boolean
  >;
}

/** The capabilities that a change adds. */
export function gainedCapabilities(
  before: Record<Capability, boolean>,
  after: Record<Capability, boolean>,
): Record<Capability, boolean> {
  const names = Object.keys(capabilities) as Capability[];
  return Object.fromEntries(names.map((name) => [name, after[name] && !before[name]])) as Record<
    Capability,
    boolean
  >;
}

/**
 * The first of the wanted capabilities that the holder lacks, or undefined. No one can grant more than they hold;
 * otherwise `manage_members` or `manage_api_keys` alone would equal all ten.
 */
export function firstLacking(
  holder: { role: Role; overrides: CapabilityOverrides },
  wanted: Record<Capability, boolean>,
): Capability | undefined {
  const names = Object.keys(capabilities) as Capability[];
  return names.find((name) => wanted[name] && !holds(holder.role, holder.overrides, name));
}
