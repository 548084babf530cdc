/** The text with its first letter in upper case, like `Free` for the plan `free`. */
export const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
