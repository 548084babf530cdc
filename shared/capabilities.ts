/** What a credential may do, and which roles hold it by default. */
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

/** The member's override when there is one, else the default of the role. */
export function holds(role: Role, overrides: CapabilityOverrides, capability: Capability): boolean {
  return overrides[capability] ?? (capabilities[capability] as readonly Role[]).includes(role);
}
