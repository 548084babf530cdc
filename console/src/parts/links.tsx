import {
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  NavLink,
  type NavLinkProps,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef, ReactNode } from 'react';

type Element = Omit<
  ComponentPropsWithRef<'a'>,
  keyof AnchorProps | keyof ButtonProps | keyof NavLinkProps
>;

/** Router links in the styles of Mantine, with type-checked paths. */
// Without a `size`, a link inherits the font size of its parent.
export const TextLink = createLink((props: AnchorProps & Element) => (
  <Anchor inherit={props.size === undefined} {...props} />
));

export const ButtonLink = createLink((props: ButtonProps & Element) => (
  <Button component="a" {...props} />
));

export const ItemLink = createLink((props: NavLinkProps & Element) => <NavLink {...props} />);

type LinkText = AnchorProps & { 'aria-label'?: string; title?: string; children: ReactNode };

/** A link to a run or to one of its steps. */
export const RunLink = ({
  run: runId,
  step,
  ...text
}: LinkText & { run: string; step?: string | null | undefined }) => (
  <TextLink to="/runs/$runId" params={{ runId }} search={step == null ? {} : { step }} {...text} />
);

/** A link to an event, by its id. */
export const EventLink = ({ event: eventId }: { event: string }) => (
  <TextLink to="/events/$eventId" params={{ eventId }} size="xs" ff="monospace">
    {eventId}
  </TextLink>
);

export const WorkflowLink = ({
  workflow: workflowId,
  tab,
  ...text
}: LinkText & { workflow: string; tab?: string }) => (
  <TextLink
    to="/workflows/$workflowId"
    params={{ workflowId }}
    search={tab === undefined ? {} : { tab }}
    {...text}
  />
);
