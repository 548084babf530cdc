import { Box, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { product } from '#console/src/messages/en/parts/page.ts';
import { placeOf } from '#console/src/nav.ts';
import { LoadingRows } from './loading.tsx';
import { BackToList, SectionTabs } from './section-tabs.tsx';
import { UserText } from './text/user-text.tsx';

/** The frame of a page: its only heading, actions, the tabs of its section, description and content. */
export function Page({
  title,
  about,
  actions,
  wide = false,
  fill = false,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** As wide as the window, for graphs and long tables. */
  wide?: boolean;
  /** As high as the window, for content that scrolls by itself. */
  fill?: boolean;
  children: ReactNode;
}) {
  useDocumentTitle(product.titleOf(title));
  return (
    <PageFrame
      title={
        <Title order={1} size="h3" miw={0} flex="1 1 14rem">
          <UserText>{title}</UserText>
        </Title>
      }
      {...{ about, actions, wide, fill }}
    >
      {children}
    </PageFrame>
  );
}

/**
 * What the router shows until a page has loaded: its name and the tabs of its section, where the page will have them,
 * above placeholders. On a detail page, whose name is not known yet, it shows the link back.
 */
export function PendingPage() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const place = placeOf(path);
  const known = place !== undefined && place.page.to === path;
  return (
    <PageFrame
      title={
        known ? (
          <Text fz="h3" fw={600}>
            {place.page.label}
          </Text>
        ) : (
          <Skeleton h={30} w="min(20rem, 60%)" />
        )
      }
      about={<Skeleton h={14} w="min(28rem, 80%)" my={4} />}
    >
      <LoadingRows rows={8} />
    </PageFrame>
  );
}

function PageFrame({
  title,
  about,
  actions,
  wide = false,
  fill = false,
  children,
}: {
  title: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
  fill?: boolean;
  children: ReactNode;
}) {
  return (
    <Box maw={wide ? undefined : 'var(--page-width)'} mx="auto">
      <Stack gap={fill ? 'sm' : 'lg'} className={fill ? 'page-fill' : undefined}>
        <Stack gap="xs">
          <BackToList />
          {/* As high as a button, so that the tabs stay in place from page to page. */}
          <Group justify="space-between" gap="sm" mih={36}>
            {title}
            {actions !== undefined && <Group gap="xs">{actions}</Group>}
          </Group>
          <SectionTabs />
          {about !== undefined && (
            <Text c="dimmed" size="sm" component="div" maw={wide ? undefined : '48rem'}>
              {about}
            </Text>
          )}
        </Stack>
        {children}
      </Stack>
    </Box>
  );
}

/** A part of a page with its own heading. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Stack gap="sm" component="section">
      <Group justify="space-between" gap="sm">
        <Title order={2} size="h5">
          {title}
        </Title>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
