export const locale = 'de';
