/** Escapes a text for a chat message: it can notify no one, and cannot be a link with a different label. */
export const inChat = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ENTITIES[character]!);

/** Escapes a text for HTML, between tags or in a quoted attribute. */
export const inHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
