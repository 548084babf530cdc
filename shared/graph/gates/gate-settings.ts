import { type CapabilityOverrides, holds, type Role } from '#shared/people/capabilities.ts';
import type { GateNode, ToolNode } from '#shared/contract/workflows/graph.ts';

const settingNames = [
  'input_schema',
  'approvers',
  'required',
  'not_the_starter',
  'signed_in',
  'timeout_seconds',
  'on_timeout',
  'remind_seconds',
  'recheck',
  'act_as',
] as const satisfies readonly (keyof GateNode | 'act_as')[];

/** What a gate requires of its approvers, and its deadlines. Stored with the gate when it opens. */
export type GateSettings = Pick<GateNode, Exclude<(typeof settingNames)[number], 'act_as'>> &
  Pick<ToolNode, 'act_as'>;

/**
 * The settings of a gate or an approval; undefined when it has none. A timeout only counts with `on_timeout`: gates of an
 * earlier version can have a timeout that never had an effect.
 */
export function settingsOf(node: GateSettings): GateSettings | undefined {
  const given = settingNames.filter(
    (name) =>
      node[name] !== undefined &&
      node[name] !== false &&
      (name !== 'timeout_seconds' || node.on_timeout !== undefined),
  );
  if (given.length === 0) return undefined;
  return Object.fromEntries(given.map((name) => [name, node[name]])) as GateSettings;
}

/** Whether the gate has a deadline or reminders. */
export const hasClock = ({ timeout_seconds, remind_seconds }: GateSettings = {}): boolean =>
  timeout_seconds !== undefined || remind_seconds !== undefined;

/** Whether only members can decide. A key without a member could belong to anyone. */
export const needsMember = ({
  approvers,
  required = 1,
  not_the_starter,
}: Pick<GateSettings, 'approvers' | 'required' | 'not_the_starter'>): boolean =>
  approvers !== undefined || required > 1 || not_the_starter === true;

/** A member, as far as the rules of a gate are concerned. */
export interface Approver {
  id: string;
  role: Role;
}

/** A member with everything that determines whether they hold a capability. */
export interface MemberStanding extends Approver {
  name: string;
  /** Neither invited nor waiting for approval. */
  active: boolean;
  overrides: CapabilityOverrides;
}

export const mayApprove = ({ active, role, overrides }: MemberStanding): boolean =>
  active && holds(role, overrides, 'approve_gates');

/** Whether `approvers` allows the member to decide. */
export const isApprover = (
  { approvers }: Pick<GateSettings, 'approvers'>,
  { id, role }: Approver,
): boolean =>
  approvers === undefined ||
  approvers.roles?.includes(role) === true ||
  approvers.members?.includes(id) === true;

/** Who can still decide an open gate. */
export interface Deciders {
  /** The members who can decide, without those who have already approved. */
  members: MemberStanding[];
  /** Too few approvers are left for the missing approvals, so admins can decide as well. */
  adminsStandIn: boolean;
}

/** The history of a gate, as far as it affects who can decide it. */
export interface GateProgress {
  /** The members who started the run or a run it started from; empty if no member did. */
  starters: readonly string[];
  /** The approvals so far. */
  decisions: readonly { member_id: string | null }[];
}

/**
 * Who can still decide a gate, given the present members: approvers can leave the workspace or lose their role while it
 * is open. Admins then stand in for `approvers`, since the run could not continue otherwise. The other rules also apply
 * to them: different people, and not the starter.
 */
export function decidersOf(
  settings: GateSettings,
  members: readonly MemberStanding[],
  { starters, decisions }: GateProgress,
): Deciders {
  const approved = decisions.map(({ member_id }) => member_id);
  const { required = 1, not_the_starter: excludes = false } = settings;
  const left = members.filter(
    (member) =>
      mayApprove(member) &&
      !approved.includes(member.id) &&
      !(excludes && starters.includes(member.id)),
  );
  const approvers = left.filter((member) => isApprover(settings, member));
  const adminsStandIn = approvers.length < required - approved.length;
  return {
    members: adminsStandIn
      ? left.filter((member) => isApprover(settings, member) || member.role === 'admin')
      : approvers,
    adminsStandIn: adminsStandIn && settings.approvers !== undefined,
  };
}

/**
 * Why someone cannot decide a gate; undefined when they can. `member` is null for a key without a member.
 */
export function refusedDecision(
  settings: GateSettings,
  label: string,
  {
    member,
    starters,
    adminsStandIn,
  }: { member: Approver | null; starters: readonly string[]; adminsStandIn: boolean },
): string | undefined {
  if (!needsMember(settings)) return undefined;
  if (member === null) {
    return `Gate '${label}' can only be decided by a member: use a session, or a key that is linked to one`;
  }
  if (settings.not_the_starter === true && starters.includes(member.id)) {
    return starters.length === 1
      ? `Gate '${label}' cannot be decided by the member who started the run`
      : `Gate '${label}' cannot be decided by a member who started the run or one before it, or set its schedule`;
  }
  if (isApprover(settings, member) || (adminsStandIn && member.role === 'admin')) return undefined;
  const { roles = [], members = [] } = settings.approvers ?? {};
  const who = [
    ...(roles.length > 0 ? [`the roles ${roles.join(', ')}`] : []),
    ...(members.length > 0
      ? [members.length === 1 ? '1 named member' : `${members.length} named members`]
      : []),
  ];
  const others = adminsStandIn ? ', and by admins, since too few of them are left' : '';
  return `Gate '${label}' can only be decided by ${who.join(' and ')}${others}`;
}
