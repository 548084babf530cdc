/** A text inserted into a message to a chat: it can notify no one, and is no link with another label. */
export const inChat = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ENTITIES[character]!);

/** A text inserted into HTML, between tags or in an attribute with quotes. */
export const inHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
