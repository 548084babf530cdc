/** What every secret of this API begins with, so that people and scanners know one when they see it. */
export const API_KEY_PREFIX = 'ops_';
