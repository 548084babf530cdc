import {
  IconDatabase,
  IconGauge,
  IconHandStop,
  IconHelpCircle,
  IconPlayerPlay,
  IconReceipt,
  IconSchema,
  IconSettings,
  IconShieldCheck,
  IconTool,
  type Icon,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import { nav } from './messages/en/nav.ts';

export interface NavPage {
  label: string;
  /** The label of its tab, if that is another one. */
  tab?: string;
  to: NonNullable<LinkProps['to']>;
  /** The key that opens the page after `g`. */
  key?: string;
  /** The path of its details, if it is not below the path of the page. */
  also?: string;
  /** Whether the list stays on the screen beside its details. */
  beside?: true;
}

/** An entry of the sidebar. Its pages are tabs of each other; the entry opens the first one. */
export interface NavSection {
  label: string;
  icon: Icon;
  pages: readonly [NavPage, ...NavPage[]];
}

const { sections, pages } = nav;

const overview: NavSection = {
  label: sections.overview,
  icon: IconGauge,
  pages: [{ label: pages.overview, to: '/', key: 'o' }],
};

const runs: NavSection = {
  label: sections.runs,
  icon: IconPlayerPlay,
  pages: [{ label: pages.runs, to: '/runs', key: 'r' }],
};

const approvals: NavSection = {
  label: sections.approvals,
  icon: IconHandStop,
  pages: [
    { label: pages.approvals, tab: pages.waiting, to: '/approvals', key: 'a', beside: true },
    { label: pages.decidedApprovals, tab: pages.decided, to: '/approvals/decided' },
  ],
};

const workflows: NavSection = {
  label: sections.workflows,
  icon: IconSchema,
  pages: [
    { label: pages.workflows, to: '/workflows', key: 'w', also: '/experiments' },
    { label: pages.templates, to: '/templates', key: 't' },
    { label: pages.schedules, to: '/schedules', key: 's' },
    { label: pages.events, to: '/events', key: 'e' },
    { label: pages.queues, to: '/queues' },
  ],
};

const tools: NavSection = {
  label: sections.tools,
  icon: IconTool,
  pages: [
    { label: pages.tools, to: '/tools' },
    { label: pages.connections, to: '/connections' },
    { label: pages.secrets, to: '/secrets' },
  ],
};

const data: NavSection = {
  label: sections.data,
  icon: IconDatabase,
  pages: [
    { label: pages.feeds, to: '/data', key: 'd' },
    { label: pages.records, to: '/data/entities' },
    { label: pages.changes, to: '/data/changes' },
    { label: pages.dataKeys, to: '/data/keys' },
  ],
};

const spend: NavSection = {
  label: sections.spend,
  icon: IconReceipt,
  pages: [
    { label: pages.budgets, to: '/budgets', key: 'b' },
    { label: pages.usage, to: '/usage', key: 'u' },
  ],
};

const governance: NavSection = {
  label: sections.governance,
  icon: IconShieldCheck,
  pages: [
    { label: pages.policies, to: '/policies', key: 'p' },
    { label: pages.policyLog, to: '/policy-log' },
    { label: pages.auditLog, to: '/audit', key: 'l' },
  ],
};

const settings: NavSection = {
  label: sections.settings,
  icon: IconSettings,
  pages: [
    { label: pages.workspace, to: '/settings' },
    { label: pages.members, to: '/members', key: 'm' },
    { label: pages.apiKeys, to: '/keys', key: 'k' },
    { label: pages.webhooks, to: '/webhooks' },
    { label: pages.account, to: '/account' },
  ],
};

/** The sections of the sidebar in groups, in order. */
export const navGroups: readonly { label: string; sections: readonly NavSection[] }[] = [
  { label: nav.groups.operate, sections: [overview, runs, approvals] },
  { label: nav.groups.build, sections: [workflows, tools, data] },
  { label: nav.groups.control, sections: [spend, governance, settings] },
];

/** The section at the end of the sidebar. */
export const helpSection: NavSection = {
  label: sections.help,
  icon: IconHelpCircle,
  pages: [{ label: pages.help, to: '/help', key: 'h' }],
};

/** The sections of the console and their pages. Tabs, palette and keyboard shortcuts use this list. */
const navSections: readonly NavSection[] = [
  ...navGroups.flatMap((group) => group.sections),
  helpSection,
];

/** All pages with their sections, in the order of the sidebar. */
export const navPages: readonly { section: NavSection; page: NavPage }[] = navSections.flatMap(
  (section) => section.pages.map((page) => ({ section, page })),
);

/** Pages that `g` and a key open. */
export const pageKeys: readonly { key: string; page: NavPage }[] = navPages.flatMap(({ page }) =>
  page.key === undefined ? [] : [{ key: page.key, page }],
);

/**
 * The section and page that a path belongs to: the page itself, or the list above a detail page. Undefined for paths
 * without an entry. `/data/entities/x` belongs to Records, not to Feeds at `/data`, because the longest path counts.
 */
export function placeOf(path: string): { section: NavSection; page: NavPage } | undefined {
  const lengthIn = ({ to, also }: NavPage): number =>
    [to, ...(also === undefined ? [] : [also])]
      .filter((start) => path === start || path.startsWith(`${start}/`))
      .reduce((longest, { length }) => Math.max(longest, length), 0);
  return navPages
    .filter(({ page }) => lengthIn(page) > 0)
    .toSorted((a, b) => lengthIn(b.page) - lengthIn(a.page))[0];
}
