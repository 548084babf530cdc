/** Messages for the outcome of an action. */
export const action = {
  failed: 'Request failed',
  stale: 'Someone changed this since you opened it',
  staleAbout: 'Nothing was done. The page now shows the current state: check it, and try again.',
} as const;

/** Messages for a form whose record someone else has changed. */
export const changed = {
  deleted: 'Someone deleted this since you opened it',
  deletedAbout: 'Your changes cannot be saved.',
  notSaved:
    'Your changes are not saved. “Reload” shows the current state with what you entered, so that you can save it on top.',
  reload: 'Reload',
  discard: 'Discard my changes',
  none: 'none',
} as const;

/** Messages for the fields of a period. */
export const period = {
  untilAbout: 'Leave empty for all until now',
} as const;
