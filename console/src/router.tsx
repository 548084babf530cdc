import type { ReactNode } from 'react';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { chunk } from './chunks.ts';
import { queryClient } from './query-client.ts';
import { identityQuery } from './queries/identity.ts';
import type { RecordSearch } from './pages/data/records/search.ts';
import { AUTHORIZE_PATH, openedQuery } from './pages/authorizations/request.ts';
import { readRunSearch } from './pages/runs/list/filter.ts';
import { PendingPage } from './parts/page.tsx';
import { endSession, sessionToken } from './session.ts';
import { PageFailure, RootFailure, UnknownPage } from './shell/failure-pages.tsx';
import { Shell } from './shell/shell.tsx';

/**
 * All routes of the console. Pages are loaded on demand. Routes validate the query string, since people type and share
 * URLs.
 */
const root = createRootRoute({
  notFoundComponent: UnknownPage,
  errorComponent: RootFailure,
});

/** A page that is loaded when it is opened, or before that. */
const page = <Name extends string>(
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) => lazyRouteComponent(chunk(load), name);

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The texts of these parameters. */
const texts = <Name extends string>(search: Record<string, unknown>, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, text(search[name])])) as {
    [Each in Name]?: string | undefined;
  };

const ordinal = (value: unknown): number | undefined =>
  Number.isSafeInteger(Number(value)) && Number(value) > 0 ? Number(value) : undefined;

interface WorkflowSearch {
  tab?: string | undefined;
  /** The version shown, and the version to compare it with. */
  version?: number | undefined;
  against?: number | undefined;
  /** Opens the dialog that starts a run. */
  run?: true | undefined;
}

const policyLogSearch = (search: Record<string, unknown>) =>
  texts(search, 'event_type', 'decision', 'workflow_id', 'run_id');

const fraction = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined;

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search) => texts(search, 'next'),
  component: page(() => import('./pages/sign-in/login.tsx'), 'LoginPage'),
});
const signup = createRoute({
  getParentRoute: () => root,
  path: '/signup',
  component: page(() => import('./pages/sign-in/signup.tsx'), 'SignupPage'),
});
const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  validateSearch: (search) => texts(search, 'code'),
  component: page(() => import('./pages/sign-in/invite.tsx'), 'InvitePage'),
});

const decideLink = createRoute({
  getParentRoute: () => root,
  path: '/decide',
  component: page(() => import('./pages/gates/decide-link.tsx'), 'DecideLinkPage'),
});

/** Leads to the sign-in, and then to `next`, without an identity: that of a member or, in open mode, of the owner. */
async function requireIdentity(next: string): Promise<void> {
  const read = () => queryClient.query({ ...identityQuery, staleTime: 'static' });
  let identity = await read();
  if (identity === null && sessionToken() !== undefined) {
    // Without the rejected token, the service may be in open mode.
    endSession();
    identity = await read();
  }
  if (identity === null) {
    // The router redirects by a thrown object.
    // oxlint-disable-next-line typescript/only-throw-error
    throw redirect({ to: '/login', search: { next } });
  }
}

const authorize = createRoute({
  getParentRoute: () => root,
  path: '/authorize',
  beforeLoad: () => requireIdentity(`${AUTHORIZE_PATH}${openedQuery()}`),
  component: page(() => import('./pages/authorizations/authorize.tsx'), 'AuthorizePage'),
});

/** Routes that require an identity, within the shell. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  beforeLoad: ({ location }) => requireIdentity(location.href),
});

const within = { getParentRoute: () => inside } as const;

const pages = [
  createRoute({
    ...within,
    path: '/',
    component: page(() => import('./pages/overview/overview.tsx'), 'OverviewPage'),
  }),
  createRoute({
    ...within,
    path: '/runs',
    validateSearch: readRunSearch,
    component: page(() => import('./pages/runs/list/run-list.tsx'), 'RunListPage'),
  }),
  createRoute({
    ...within,
    path: '/runs/$runId',
    validateSearch: (search) => texts(search, 'step', 'tab'),
    component: page(() => import('./pages/runs/run.tsx'), 'RunPage'),
  }),
  createRoute({
    ...within,
    path: '/runs/$runId/compare/$otherId',
    validateSearch: (search) => texts(search, 'step'),
    component: page(() => import('./pages/runs/compare/compare.tsx'), 'ComparePage'),
  }),
  createRoute({
    ...within,
    path: '/approvals',
    validateSearch: (search): { mine?: true } => (search['mine'] === true ? { mine: true } : {}),
    component: page(() => import('./pages/gates/inbox.tsx'), 'InboxPage'),
  }),
  createRoute({
    ...within,
    path: '/approvals/decided',
    component: lazyRouteComponent(() => import('./pages/gates/decided.tsx'), 'DecidedPage'),
  }),
  createRoute({
    ...within,
    path: '/approvals/$runId/$nodeId',
    validateSearch: (search): { step?: string | undefined; mine?: true } => ({
      ...texts(search, 'step'),
      ...(search['mine'] === true && { mine: true }),
    }),
    component: page(() => import('./pages/gates/gate.tsx'), 'GatePage'),
  }),
  createRoute({
    ...within,
    path: '/workflows',
    validateSearch: (search) => texts(search, 'q'),
    component: page(() => import('./pages/workflows/workflow-list.tsx'), 'WorkflowListPage'),
  }),
  createRoute({
    ...within,
    path: '/workflows/$workflowId',
    validateSearch: (search): WorkflowSearch => ({
      ...texts(search, 'tab'),
      version: ordinal(search['version']),
      against: ordinal(search['against']),
      run: search['run'] === true ? true : undefined,
    }),
    component: page(() => import('./pages/workflows/workflow.tsx'), 'WorkflowPage'),
  }),
  createRoute({
    ...within,
    path: '/workflows/$workflowId/edit',
    validateSearch: (search) => texts(search, 'node', 'run', 'step', 'publish'),
    component: page(() => import('./pages/workflows/editor/editor.tsx'), 'EditorPage'),
  }),
  createRoute({
    ...within,
    path: '/experiments/$experimentId',
    component: page(() => import('./pages/experiments/experiment.tsx'), 'ExperimentPage'),
  }),
  createRoute({
    ...within,
    path: '/templates',
    component: page(() => import('./pages/templates/gallery.tsx'), 'GalleryPage'),
  }),
  createRoute({
    ...within,
    path: '/schedules',
    component: page(() => import('./pages/schedules/schedule-list.tsx'), 'ScheduleListPage'),
  }),
  createRoute({
    ...within,
    path: '/events',
    validateSearch: (search): { name?: string | undefined; show?: 'waiting' } => ({
      ...texts(search, 'name'),
      ...(search['show'] === 'waiting' && { show: 'waiting' }),
    }),
    component: page(() => import('./pages/events/events.tsx'), 'EventListPage'),
  }),
  createRoute({
    ...within,
    path: '/queues',
    validateSearch: (search) => texts(search, 'workflow'),
    component: page(() => import('./pages/limits/queues.tsx'), 'QueuesPage'),
  }),
  createRoute({
    ...within,
    path: '/events/$eventId',
    component: page(() => import('./pages/events/event.tsx'), 'EventPage'),
  }),
  createRoute({
    ...within,
    path: '/tools',
    validateSearch: (search) => texts(search, 'import'),
    component: page(() => import('./pages/tools/tools.tsx'), 'ToolsPage'),
  }),
  createRoute({
    ...within,
    path: '/connections',
    validateSearch: (search) => texts(search, 'result', 'connection', 'reason', 'mcp_server'),
    component: page(() => import('./pages/connections/connections.tsx'), 'ConnectionsPage'),
  }),
  createRoute({
    ...within,
    path: '/secrets',
    component: page(() => import('./pages/secrets/secrets.tsx'), 'SecretsPage'),
  }),
  createRoute({
    ...within,
    path: '/budgets',
    component: page(() => import('./pages/money/budgets.tsx'), 'BudgetsPage'),
  }),
  createRoute({
    ...within,
    path: '/usage',
    validateSearch: (search): { days?: number | undefined } => ({
      days: [7, 30, 90].find((days) => days === Number(search['days'])),
    }),
    component: page(() => import('./pages/money/usage.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...within,
    path: '/policies',
    component: page(() => import('./pages/policies/policies.tsx'), 'PoliciesPage'),
  }),
  createRoute({
    ...within,
    path: '/policy-log',
    validateSearch: policyLogSearch,
    component: page(() => import('./pages/policies/events.tsx'), 'EventsPage'),
  }),
  // Its former path.
  createRoute({
    ...within,
    path: '/governance',
    validateSearch: policyLogSearch,
    beforeLoad: ({ search }) => {
      // The router redirects by a thrown object.
      // oxlint-disable-next-line typescript/only-throw-error
      throw redirect({ to: '/policy-log', search, replace: true });
    },
  }),
  createRoute({
    ...within,
    path: '/audit',
    validateSearch: (search) =>
      texts(search, 'action', 'actor_id', 'target_type', 'target_id', 'since', 'until'),
    component: page(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...within,
    path: '/members',
    component: page(() => import('./pages/people/members.tsx'), 'MembersPage'),
  }),
  createRoute({
    ...within,
    path: '/members/$memberId',
    component: page(() => import('./pages/people/member.tsx'), 'MemberPage'),
  }),
  createRoute({
    ...within,
    path: '/keys',
    component: page(() => import('./pages/people/keys.tsx'), 'KeysPage'),
  }),
  createRoute({
    ...within,
    path: '/settings',
    component: page(() => import('./pages/workspace/settings.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...within,
    path: '/account',
    component: page(() => import('./pages/people/account.tsx'), 'AccountPage'),
  }),
  createRoute({
    ...within,
    path: '/data',
    component: page(() => import('./pages/data/feeds/feeds.tsx'), 'FeedsPage'),
  }),
  createRoute({
    ...within,
    path: '/data/feeds/$feedId',
    component: page(() => import('./pages/data/feeds/feed.tsx'), 'FeedPage'),
  }),
  createRoute({
    ...within,
    path: '/data/entities',
    validateSearch: (search): RecordSearch => ({
      ...texts(search, 'feed_id', 'entity_type', 'geography', 'updated_since'),
      confidence_min: fraction(search['confidence_min']),
    }),
    component: page(() => import('./pages/data/records/entities.tsx'), 'EntitiesPage'),
  }),
  createRoute({
    ...within,
    path: '/data/entities/$entityId',
    component: page(() => import('./pages/data/records/entity.tsx'), 'EntityPage'),
  }),
  createRoute({
    ...within,
    path: '/data/changes',
    validateSearch: (search) => texts(search, 'feed_id', 'entity_type', 'entity_id'),
    component: page(() => import('./pages/data/records/changes.tsx'), 'ChangesPage'),
  }),
  createRoute({
    ...within,
    path: '/data/keys',
    component: page(() => import('./pages/data/keys/data-keys.tsx'), 'DataKeysPage'),
  }),
  createRoute({
    ...within,
    path: '/webhooks',
    component: page(() => import('./pages/webhooks/endpoints.tsx'), 'EndpointsPage'),
  }),
  createRoute({
    ...within,
    path: '/webhooks/$endpointId',
    validateSearch: (search) => texts(search, 'status'),
    component: page(() => import('./pages/webhooks/endpoint.tsx'), 'EndpointPage'),
  }),
  createRoute({
    ...within,
    path: '/help',
    component: page(() => import('./pages/help/help.tsx'), 'HelpPage'),
  }),
  // Any other path, within the shell.
  createRoute({ ...within, path: '$', component: UnknownPage }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    signup,
    invite,
    decideLink,
    authorize,
    inside.addChildren(pages),
  ]),
  defaultPreload: 'intent',
  defaultPendingComponent: PendingPage,
  defaultErrorComponent: PageFailure,
  defaultPendingMs: 150,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
