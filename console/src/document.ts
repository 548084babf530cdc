/** What the document that carries the console says to its scripts. */

const meta = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

/** The word without which the page's policy lets no `<style>` element in. Undefined where no policy is set (`npm run dev`). */
export const styleNonce = ((nonce) => (nonce === '__CSP_NONCE__' ? undefined : nonce))(
  meta('csp-nonce'),
);

// What locks the page behind a dialog writes a style of its own, and looks for the word here.
if (styleNonce !== undefined) Object.assign(globalThis, { __webpack_nonce__: styleNonce });

/** The API's address: the origin of the page, unless the build sets another. */
export const apiUrl: string =
  (import.meta.env.VITE_API_URL as string | undefined) ??
  (import.meta.env.DEV ? 'http://127.0.0.1:8000' : window.location.origin);
