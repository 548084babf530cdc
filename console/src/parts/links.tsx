import {
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  NavLink,
  type NavLinkProps,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Element = Omit<
  ComponentPropsWithRef<'a'>,
  keyof AnchorProps | keyof ButtonProps | keyof NavLinkProps
>;

/** Links of the router in the looks of the library, with addresses that the compiler checks. */
// Without a size of its own a link is as large as what it stands in.
export const TextLink = createLink((props: AnchorProps & Element) => (
  <Anchor inherit={props.size === undefined} {...props} />
));

export const ButtonLink = createLink((props: ButtonProps & Element) => (
  <Button component="a" {...props} />
));

export const ItemLink = createLink((props: NavLinkProps & Element) => <NavLink {...props} />);
