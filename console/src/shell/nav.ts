import {
  IconAddressBook,
  IconAntennaBars5,
  IconApi,
  IconCalendarTime,
  IconChartBar,
  IconClipboardList,
  IconCoin,
  IconDatabase,
  IconGauge,
  IconHandStop,
  IconKey,
  IconLayoutGrid,
  IconListDetails,
  IconLock,
  IconPlayerPlay,
  IconSchema,
  IconSettings,
  IconShieldCheck,
  IconShieldHalf,
  IconTool,
  IconUsers,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';

export interface NavItem {
  label: string;
  to: LinkProps['to'];
  icon: Icon;
  /** Active only at this path, not at paths below it. */
  exact?: boolean;
  /** Also active at paths below this one. */
  also?: string;
}

export interface NavSection {
  label: string | undefined;
  items: readonly NavItem[];
}

/** The sidebar, top to bottom. */
export const navSections: readonly NavSection[] = [
  {
    label: undefined,
    items: [
      { label: 'Overview', to: '/', icon: IconGauge, exact: true },
      { label: 'Runs', to: '/runs', icon: IconPlayerPlay },
      { label: 'Approvals', to: '/approvals', icon: IconHandStop },
    ],
  },
  {
    label: 'Build',
    items: [
      { label: 'Workflows', to: '/workflows', icon: IconSchema },
      { label: 'Templates', to: '/templates', icon: IconLayoutGrid },
      { label: 'Schedules', to: '/schedules', icon: IconCalendarTime },
      { label: 'Tools', to: '/tools', icon: IconTool },
      { label: 'Webhooks', to: '/webhooks', icon: IconWebhook },
      { label: 'Secrets', to: '/secrets', icon: IconLock },
    ],
  },
  {
    label: 'Govern',
    items: [
      { label: 'Budgets', to: '/budgets', icon: IconCoin },
      { label: 'Usage', to: '/usage', icon: IconChartBar },
      { label: 'Policies', to: '/policies', icon: IconShieldCheck },
      { label: 'Decisions', to: '/governance', icon: IconShieldHalf },
      { label: 'Audit log', to: '/audit', icon: IconClipboardList },
    ],
  },
  {
    label: 'Data',
    items: [
      { label: 'Feeds', to: '/data', icon: IconDatabase, exact: true, also: '/data/feeds' },
      { label: 'Records', to: '/data/entities', icon: IconListDetails },
      { label: 'Changes', to: '/data/changes', icon: IconAntennaBars5 },
      { label: 'Data keys', to: '/data/keys', icon: IconApi },
    ],
  },
  {
    label: 'Workspace',
    items: [
      { label: 'Members', to: '/members', icon: IconUsers },
      { label: 'API keys', to: '/keys', icon: IconKey },
      { label: 'Settings', to: '/settings', icon: IconSettings },
      { label: 'Account', to: '/account', icon: IconAddressBook },
    ],
  },
];
