const codes = [
  'gate_approver_unknown',
  'gate_approver_cannot_decide',
  'gate_too_few_approvers',
] as const;

/** The code of a mistake about the members who decide, such as too few of them. */
export type MemberCode = (typeof codes)[number];

/**
 * Whether a mistake is about the members of the workspace. It keeps a draft from being published, and not a run from
 * starting: members can change until the run waits for them.
 */
export const isAboutMembers = (code: string): boolean => codes.some((each) => each === code);
