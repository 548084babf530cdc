import type { Capability } from '#client/index.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';

/** The name of the product, and what it belongs to. */
export const product = {
  name: PRODUCT_NAME,
  /** The title of the window. */
  titleOf: (page: string) => `${page} · ${PRODUCT_NAME}`,
} as const;

/** Messages for the frame of a page. */
export const page = {
  section: (name: string) => `${name} section`,
  breadcrumb: 'Breadcrumb',
  loading: 'Loading',
  loadMore: 'Load more',
  mayNotCreate: (missing: Capability) => `You need the ${missing} permission to create one.`,
} as const;

/** Messages for an error. */
export const failure = {
  again: 'Try again',
  openBudgets: 'Open budgets',
  request: 'Request {id}',
  timedOut: 'The request timed out. Try again.',
  unreachable: 'Cannot reach the service. Check your connection and try again.',
} as const;

/** Messages for the action that copies the address of the page. */
export const copyLink = {
  item: 'Copy link',
  done: 'Link copied',
} as const;
