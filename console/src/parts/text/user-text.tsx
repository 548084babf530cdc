import type { ReactNode } from 'react';

/** Text that somebody typed or a model wrote: kept apart, so that its direction cannot turn ours around. */
export function UserText({ children }: { children: ReactNode }) {
  return <bdi className="user-text">{children}</bdi>;
}
