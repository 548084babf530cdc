import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Look = Omit<AnchorProps, 'href'> & Pick<ComponentPropsWithRef<'a'>, 'ref' | 'children'>;

/** A link to a page of the console, whose address and parameters the router's types hold. */
export const RouteLink = createLink(({ ...look }: Look) => <Anchor {...look} />);
