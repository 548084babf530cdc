import './section-tabs.css';
import { IconChevronLeft } from '@tabler/icons-react';
import { Link, useMatches } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { page as text } from '#console/src/messages/en/parts/page.ts';
import { placeOf } from '#console/src/nav.ts';

/** The location of the page on the screen. While the next page loads, it is still the previous one. */
const usePlace = () => {
  const path = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? '/' });
  const place = placeOf(path);
  return place === undefined
    ? undefined
    : { ...place, isList: path === place.page.to || place.page.beside === true };
};

/**
 * The pages of the section as tabs, with the one on the screen marked. Renders nothing in sections with one page and on
 * details.
 */
export function SectionTabs() {
  const place = usePlace();
  const current = useRef<HTMLAnchorElement>(null);
  const to = place?.page.to;
  // On a phone, the tab can be outside the visible part. `scrollIntoView` would also move the page.
  useEffect(() => {
    const tab = current.current;
    const row = tab?.parentElement;
    if (tab == null || row == null) return;
    row.scrollLeft = tab.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }, [to]);
  if (place === undefined || !place.isList || place.section.pages.length === 1) return null;
  return (
    <nav className="section-tabs" aria-label={text.section(place.section.label)}>
      {place.section.pages.map((page) => (
        <Link
          key={page.to}
          to={page.to}
          ref={page === place.page ? current : undefined}
          activeOptions={{ exact: true }}
          className="section-tab"
          aria-current={page === place.page ? 'page' : undefined}
        >
          {page.tab ?? page.label}
        </Link>
      ))}
    </nav>
  );
}

/** On a detail page, the link back to its list. */
export function BackToList() {
  const place = usePlace();
  if (place === undefined || place.isList) return null;
  return (
    <nav aria-label={text.breadcrumb}>
      <Link to={place.page.to} className="back-to-list">
        <IconChevronLeft size={14} stroke={2} aria-hidden />
        {place.page.label}
      </Link>
    </nav>
  );
}
