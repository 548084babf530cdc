/** Settings that the HTML document and the build pass to the scripts. */

const meta = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

/** The nonce that the page's CSP requires of `<style>` elements. Undefined without a CSP (`npm run dev`). */
export const styleNonce = ((nonce) => (nonce === '__CSP_NONCE__' ? undefined : nonce))(
  meta('csp-nonce'),
);

// The scroll lock behind dialogs injects a `<style>` element and reads the nonce from here.
if (styleNonce !== undefined) Object.assign(globalThis, { __webpack_nonce__: styleNonce });

/** The base URL of the API: the origin of the page, unless the build sets another. */
export const apiUrl: string =
  (import.meta.env.VITE_API_URL as string | undefined) ??
  (import.meta.env.DEV ? 'http://127.0.0.1:8000' : window.location.origin);
