// Browser objects that tests use inside `evaluate`. The full DOM types contradict Node's types of `fetch`, and the
// service's sources are checked here, too.
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
