import type { ReactNode } from 'react';

/** Text from users or models, isolated so that its direction does not affect the text around it. */
export function UserText({ children }: { children: ReactNode }) {
  return <bdi className="user-text">{children}</bdi>;
}
