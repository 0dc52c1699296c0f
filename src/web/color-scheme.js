// Runs before the first paint; Mantine keeps the attribute up to date afterwards (see main.tsx).
(() => {
  let chosen;
  try {
    chosen = localStorage.getItem('roster-color-scheme');
  } catch {
    // Storage can be forbidden; then the system decides.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
})();
