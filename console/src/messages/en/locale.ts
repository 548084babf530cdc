/** The BCP 47 tag of the language of these messages, which also determines the format of numbers and times. */
export const locale = 'en';
