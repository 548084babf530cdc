import type { ToolDefinitions } from '#shared/agents/offered-tools.ts';
import type { CallProblems } from '#shared/graph/children/called-workflows.ts';
import type { MemberStanding } from '#shared/graph/gates/gate-settings.ts';
import type { SecretHosts } from '#shared/graph/validate/secrets.ts';

/** Only the custom tools that an agent offers need their fields. */
export interface ValidationContext extends ToolDefinitions {
  /** Names of the built-in tools. */
  tools: ReadonlySet<string>;
  /** The workspace's secrets; undefined where they are unknown, so that any may exist. */
  secrets?: SecretHosts;
  /** The workspace's connections; undefined where they are unknown. */
  connections?: SecretHosts;
  /** Problems of the workflows that the graph calls; undefined where they are unknown. */
  calls?: CallProblems;
  /** The workspace's members; undefined where they are unknown, so that any approver may exist. */
  members?: readonly MemberStanding[];
  /** Why a provider's models cannot be called, by provider. Plain data, since checks can run on another thread. */
  unavailableProviders?: Readonly<Record<string, string>>;
  /** Whether the graph was stored when a node could still set the key `secrets`: it keeps running, with a warning. */
  maySetSecrets?: boolean;
  /** Keys that the run's input can have; undefined if it can have any. */
  inputKeys?: readonly string[];
}

/** Invalid nodes, by position. Other nodes can refer to them, but they are not checked further. */
export type Unreadable = ReadonlySet<number>;
