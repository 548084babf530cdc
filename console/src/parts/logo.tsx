/** The product's logo: a path through steps in the shape of a W. The same drawing as in favicon.svg. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg className="logo" viewBox="0 0 32 32" width={size} height={size} aria-hidden>
      <rect width="32" height="32" rx="7" />
      <path d="M7 9.5 11.5 22.5 16 12.5 20.5 22.5 25 9.5" />
      <circle cx="7" cy="9.5" r="3" />
      <circle cx="25" cy="9.5" r="3" />
    </svg>
  );
}
