import type { Options } from 'minisearch';

export interface FoundPassage {
  id: string;
  page: string;
  heading: string;
}

/** How passages are indexed: the build and the browser need the same. An `id` is the address of the passage. */
export const searchOptions: Options = {
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading'],
  searchOptions: { boost: { page: 4, heading: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
};
