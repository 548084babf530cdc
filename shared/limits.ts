/**
 * The limits of each workspace, independent of its plan: high enough for any expected use, and low enough that one
 * tenant cannot fill shared tables, lists and checks.
 */
export const workspaceLimits = {
  workflows: { atMost: 10_000, called: 'workflows', remedy: 'delete some first' },
  templates: { atMost: 500, called: 'templates', remedy: 'delete some first' },
  schedules: { atMost: 1_000, called: 'schedules', remedy: 'delete some first' },
  triggers: { atMost: 1_000, called: 'event triggers', remedy: 'delete some first' },
  tools: { atMost: 1_000, called: 'tools', remedy: 'delete some first' },
  secrets: { atMost: 500, called: 'secrets', remedy: 'delete some first' },
  connections: { atMost: 100, called: 'connections', remedy: 'delete some first' },
  budgets: { atMost: 200, called: 'budgets', remedy: 'delete some first' },
  /** Includes invited members who have not joined, but not pending sign-ups. */
  members: { atMost: 2_000, called: 'members', remedy: 'remove some first' },
  /** Revoked keys stay in the list, but do not count. */
  apiKeys: { atMost: 500, called: 'API keys', remedy: 'revoke some first' },
  dataKeys: { atMost: 500, called: 'data API keys', remedy: 'revoke some first' },
  feeds: { atMost: 500, called: 'feeds', remedy: 'delete some first' },
  sources: { atMost: 1_000, called: 'sources', remedy: 'delete some first' },
  /** For live records. The same number is allowed for demo records. */
  endpoints: { atMost: 50, called: 'webhook endpoints of a kind', remedy: 'delete some first' },
  /** Counts running jobs only. */
  jobs: {
    atMost: 5,
    called: 'background jobs at a time',
    remedy: 'wait until one has ended, or cancel one',
  },
} as const satisfies Record<string, WorkspaceLimit>;

export interface WorkspaceLimit {
  atMost: number;
  /** The plural noun, for errors. */
  called: string;
  /** What to do about it. */
  remedy: string;
}

export type LimitedNoun = keyof typeof workspaceLimits;

/** A child run is one level deeper than its parent. A run without a parent has depth 1. */
export const MAX_RUN_DEPTH = 8;

/** Why a run at the greatest depth starts no other run. */
export const tooDeep = `Runs can start other runs up to a depth of ${MAX_RUN_DEPTH}, and this one would be deeper`;

/** A run that an event starts can send events, which can start further runs. Deeper events start none. */
export const MAX_EVENT_DEPTH = 8;

/**
 * Steps in a run's record. More must be read page by page, because all steps of a large run would block the API for a
 * second.
 */
export const MAX_STEPS_IN_RUN = 1_000;

/** Saved views of the list of runs: the maximum number per member, and the maximum length of a name in characters. */
export const MAX_VIEWS = 50;
export const MAX_VIEW_NAME = 60;
