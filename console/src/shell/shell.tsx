import {
  ActionIcon,
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
import { IconMoon, IconSelector, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQuery, useInfiniteQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { loadAhead } from '#console/src/chunks.ts';
import { useTrouble } from '#console/src/connection.ts';
import { product } from '#console/src/messages/en/parts/page.ts';
import { roleNamesInText } from '#console/src/messages/en/parts/roles.ts';
import { shell as text, userMenu } from '#console/src/messages/en/shell.ts';
import { helpSection, navGroups, type NavSection, placeOf } from '#console/src/nav.ts';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Logo } from '#console/src/parts/logo.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { identityQuery, useIdentity } from '#console/src/queries/identity.ts';
import { approvalsQuery } from '#console/src/queries/runs.ts';
import { workspaceQuery } from '#console/src/queries/workspace.ts';
import { useWorkspaceStream } from '#console/src/queries/workspace-stream.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { signOut, useSessionToken } from '#console/src/session.ts';
import { connectionBarHeight, headerHeight, sidebarWidth } from '#console/src/tokens.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { CommandHost } from './palette/host.tsx';

const APPROVALS_EVERY_MS = 10_000;

/** The frame of every page except the sign-in pages. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const signedIn = useSomebody();
  useWorkspaceStream(signedIn);
  useEffect(close, [path, close]);
  useEffect(() => {
    if (signedIn) void loadAhead();
  }, [signedIn]);
  const height = useTrouble() === undefined ? headerHeight : headerHeight + connectionBarHeight;
  return (
    <AppShell
      header={{ height }}
      style={{ '--header-height': `${height}px` }}
      navbar={{ width: sidebarWidth, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip-link" href="#main">
        {text.skip}
      </a>
      <AppShell.Header>
        <Group h={headerHeight} px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={text.navigation}
            />
            {signedIn && <Product />}
          </Group>
          <Group gap="xs" wrap="nowrap">
            {signedIn && <CommandHost />}
            <SchemeSwitch />
          </Group>
        </Group>
        <ConnectionBar />
      </AppShell.Header>
      <AppShell.Navbar aria-label={text.pages}>
        {signedIn && <Sidebar path={path} />}
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {signedIn ? <Outlet /> : <LoadingPage />}
      </AppShell.Main>
    </AppShell>
  );
}

/** The product and the workspace. A phone only has room for one of the names. */
function Product() {
  const { data } = useQuery(workspaceQuery);
  return (
    <Link to="/" className="product">
      <Logo />
      <Text span inherit visibleFrom="sm">
        {product.name}
      </Text>
      {data !== undefined && (
        <span className="product-workspace">
          <Text span inherit fw={500} truncate>
            <UserText>{data.name}</UserText>
          </Text>
        </span>
      )}
    </Link>
  );
}

function Sidebar({ path }: { path: string }) {
  const here = placeOf(path)?.section;
  return (
    <>
      <AppShell.Section grow component={ScrollArea} px="xs">
        {navGroups.map(({ label, sections }) => (
          <div key={label} role="group" aria-label={label}>
            <Text size="xs" c="dimmed" fw={500} px="sm" pt="sm" pb={4} aria-hidden>
              {label}
            </Text>
            {sections.map((section) => (
              <Entry key={section.label} {...{ section, here, path }} />
            ))}
          </div>
        ))}
      </AppShell.Section>
      <AppShell.Section p="xs" className="sidebar-end">
        <Entry section={helpSection} {...{ here, path }} />
        <UserMenu />
      </AppShell.Section>
    </>
  );
}

/** An entry of the sidebar. Under the pointer, it shows the keys of its first page. */
function Entry({
  section,
  here,
  path,
}: {
  section: NavSection;
  here: NavSection | undefined;
  path: string;
}) {
  const [{ to, key }] = section.pages;
  const active = section === here;
  return (
    <NavLink
      component={Link}
      // Spread, since the router's link and Mantine's link take their target in the same property.
      // By default the router also marks prefixes, such as the feeds for the records below them.
      {...{ to, activeOptions: { exact: true } }}
      label={section.label}
      leftSection={<section.icon size={18} stroke={1.6} aria-hidden />}
      rightSection={
        <>
          {key !== undefined && <span className="entry-key" data-keys={`g ${key}`} aria-hidden />}
          {to === '/approvals' && <WaitingGates />}
        </>
      }
      active={active}
      aria-current={active ? (path === to ? 'page' : 'true') : undefined}
      className="sidebar-entry"
    />
  );
}

function WaitingGates() {
  const { data = [], hasNextPage } = useInfiniteQuery({
    ...approvalsQuery(),
    refetchInterval: () => pollMs(APPROVALS_EVERY_MS),
  });
  if (data.length === 0) return null;
  return (
    <Badge size="sm" variant="filled" color="warning" autoContrast>
      {countText(data.length)}
      {hasNextPage ? '+' : ''}
      <VisuallyHidden> {text.waiting}</VisuallyHidden>
    </Badge>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme('light') === 'dark';
  const label = dark ? text.lightTheme : text.darkTheme;
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
  const name = identity.name ?? userMenu.apiKey;
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <NavLink
          component="button"
          label={<UserText>{name}</UserText>}
          aria-label={userMenu.label(name)}
          leftSection={<IconUserCircle size={18} stroke={1.6} aria-hidden />}
          rightSection={<IconSelector size={14} aria-hidden />}
          className="sidebar-entry"
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{roleNamesInText[identity.role]}</Menu.Label>
        {!signedIn && <Menu.Label>{userMenu.openMode}</Menu.Label>}
        <Menu.Item onClick={() => void navigate({ to: '/account' })}>{userMenu.account}</Menu.Item>
        {signedIn && <Menu.Item onClick={signOut}>{userMenu.signOut}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
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
