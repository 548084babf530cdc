// Before the page is drawn: the scheme that this browser chose, here or in the console. Without a choice, the system's.
try {
  const chosen = localStorage.getItem('mantine-color-scheme-value');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.scheme = chosen;
} catch {
  // Without storage, the system's.
}
