// What tests use of a page's own objects, inside of `evaluate`. The whole library of a browser's types contradicts Node's
// about `fetch`, which the service's sources are checked against here, too.
declare const window: any;
declare const document: any;
interface Element {
  textContent: string;
  getAttribute(name: string): string | null;
}
interface SVGElement extends Element {
  readonly ownerSVGElement?: unknown;
}
interface HTMLElement extends Element {
  innerText: string;
}
interface HTMLAnchorElement extends HTMLElement {
  href: string;
}
