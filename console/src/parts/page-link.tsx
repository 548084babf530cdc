import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Props = AnchorProps & Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps>;

// Without a size of its own a link is as large as what it stands in.
const LinkAnchor = (props: Props) => <Anchor inherit={props.size === undefined} {...props} />;

/** A link to another page of the console, in the look of the others. Its address is checked by the compiler. */
export const PageLink = createLink(LinkAnchor);
