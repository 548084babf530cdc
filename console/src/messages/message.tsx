import { Fragment, type ReactNode } from 'react';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { Placeholder } from './format.ts';

/** A message whose placeholders are elements, such as links, or texts from users, which are isolated. */
export function Message<Text extends string>({
  text,
  values,
}: {
  /** Has `{name}` where a value is inserted. */
  text: Text;
  values: Record<Placeholder<Text>, ReactNode>;
}) {
  const known: Record<string, ReactNode> = values;
  return text
    .split(/\{(\w+)\}/)
    .map((part, index) => (
      <Fragment key={index}>{index % 2 === 0 ? part : isolated(known[part])}</Fragment>
    ));
}

const isolated = (value: ReactNode): ReactNode =>
  typeof value === 'string' ? <UserText>{value}</UserText> : value;
