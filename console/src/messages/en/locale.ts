/** BCP 47 tag of the language of these messages. Numbers and times are shown by it. */
export const locale = 'en';
