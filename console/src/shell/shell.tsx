import {
  ActionIcon,
  Alert,
  AppShell,
  Badge,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  VisuallyHidden,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconMoon, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQuery, useInfiniteQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useConnectionLost } from '../connection.ts';
import { LoadingPage } from '../parts/loading.tsx';
import { UserText } from '../parts/text/user-text.tsx';
import { identityQuery, useIdentity } from '../queries/identity.ts';
import { approvalsQuery } from '../queries/runs.ts';
import { workspaceQuery } from '../queries/workspace.ts';
import { signOut, useSessionToken } from '../session.ts';
import { navSections, type NavItem } from './nav.ts';

const APPROVALS_EVERY_MS = 10_000;

/** The frame of every page except the sign-in pages. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const signedIn = useSomebody();
  useEffect(close, [path, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            {signedIn && <WorkspaceName />}
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SchemeSwitch />
            {signedIn && <UserMenu />}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages">
        <ScrollArea px="xs" py="sm">
          {signedIn && <Navigation path={path} />}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <ConnectionNotice />
        {signedIn ? <Outlet /> : <LoadingPage />}
      </AppShell.Main>
    </AppShell>
  );
}

function WorkspaceName() {
  const { data } = useQuery(workspaceQuery);
  return (
    <Text component={Link} to="/" fw={650} truncate c="inherit" td="none">
      {data === undefined ? 'Workflows' : <UserText>{data.name}</UserText>}
    </Text>
  );
}

function Navigation({ path }: { path: string }) {
  return navSections.map(({ label, items }) => (
    <div key={label ?? ''}>
      {label !== undefined && (
        <Text size="xs" c="dimmed" fw={600} px="sm" pt="md" pb={4}>
          {label}
        </Text>
      )}
      {items.map((item) => (
        <NavLink
          key={item.label}
          component={Link}
          // Spread, since the router's link and Mantine's link take their target in the same property.
          // By default the router also marks prefixes, such as the feeds for the records below them.
          {...{ to: item.to, activeOptions: { exact: true } }}
          label={item.label}
          leftSection={<item.icon size={18} stroke={1.6} aria-hidden />}
          rightSection={item.to === '/approvals' ? <WaitingGates /> : undefined}
          active={isActive(item, path)}
          aria-current={isActive(item, path) ? 'page' : undefined}
          variant="light"
          py={6}
        />
      ))}
    </div>
  ));
}

function isActive({ to, exact, also }: NavItem, path: string): boolean {
  const above = also ?? (exact === true ? undefined : to);
  return path === to || (above !== undefined && path.startsWith(`${above}/`));
}

function WaitingGates() {
  const { data } = useInfiniteQuery({ ...approvalsQuery, refetchInterval: APPROVALS_EVERY_MS });
  const shown = data?.pages.reduce((sum, page) => sum + page.approvals.length, 0) ?? 0;
  if (shown === 0) return null;
  const more = data?.pages.at(-1)?.next_cursor != null;
  return (
    <Badge size="sm" variant="filled" color="yellow" autoContrast>
      {shown}
      {more ? '+' : ''}
      <VisuallyHidden> waiting</VisuallyHidden>
    </Badge>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const label = dark ? 'Light theme' : 'Dark theme';
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(dark ? 'light' : 'dark')}
      >
        {dark ? <IconSun size={18} /> : <IconMoon size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}

function UserMenu() {
  const identity = useIdentity();
  const signedIn = identity.credential === 'session';
  const navigate = useNavigate();
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Account">
          <IconUserCircle size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <UserText>{identity.name ?? 'API key'}</UserText> · {identity.role}
        </Menu.Label>
        {!signedIn && <Menu.Label>Open mode: no sign-in required</Menu.Label>}
        <Menu.Item onClick={() => void navigate({ to: '/account' })}>Account</Menu.Item>
        <Menu.Item component="a" href="/docs" target="_blank" rel="noreferrer">
          API reference
        </Menu.Item>
        {signedIn && <Menu.Item onClick={signOut}>Sign out</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

function ConnectionNotice() {
  if (!useConnectionLost()) return null;
  return (
    <Alert color="red" mb="md" role="status" title="Cannot reach the service">
      Data may be stale. Reconnecting…
    </Alert>
  );
}

/**
 * Whether the identity of the user is known. When the session ends, in this tab or another one, the page is removed and
 * the router redirects to the sign-in page.
 */
function useSomebody(): boolean {
  const token = useSessionToken();
  const { data: identity } = useQuery(identityQuery);
  const router = useRouter();
  const nobody = identity === null;
  useEffect(() => {
    void router.invalidate();
  }, [token, nobody, router]);
  return identity != null;
}
