import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { UserText } from './text/user-text.tsx';

/** The frame of a page: its one heading, description, actions and content. */
export function Page({
  title,
  about,
  actions,
  wide = false,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** As wide as the window, for graphs and long tables. */
  wide?: boolean;
  children: ReactNode;
}) {
  useDocumentTitle(`${title} · Workflows`);
  return (
    <Box maw={wide ? undefined : 'var(--page-width)'} mx="auto">
      <Stack gap="lg">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Box miw={0}>
            <Title order={1} size="h3">
              <UserText>{title}</UserText>
            </Title>
            {about !== undefined && (
              <Text c="dimmed" size="sm" component="div">
                {about}
              </Text>
            )}
          </Box>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
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
