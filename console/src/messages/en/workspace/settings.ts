/** Messages for the settings of the workspace. */
export const settings = {
  title: 'Workspace',
  about: 'Name, plan and alerts of this workspace.',
  general: 'General',
  id: 'ID',
  whatId: 'the workspace ID',
  members: 'Members',
  permissionNeeded: 'You need the manage_workspace permission to change settings.',
  rename: 'Rename',
  renamed: 'Workspace renamed',
} as const;
