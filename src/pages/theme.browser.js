// Runs in the browser before the first paint, inline: the policy of the pages names its hash. The console keeps the same
// choice (src/web/theme.ts).
(() => {
  const KEY = 'roster-color-scheme';
  const read = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // Storage can be forbidden; then the system decides.
    }
  };
  const apply = (choice) => {
    if (choice === 'light' || choice === 'dark') document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
  };
  apply(read());
  addEventListener('DOMContentLoaded', () => {
    const select = document.querySelector('#theme');
    const show = () => {
      const choice = read();
      apply(choice);
      select.value = choice === 'light' || choice === 'dark' ? choice : 'auto';
    };
    show();
    select.hidden = false;
    select.addEventListener('change', () => {
      apply(select.value);
      try {
        localStorage.setItem(KEY, select.value);
      } catch {
        // The choice is for this page only.
      }
      dispatchEvent(new Event('themechange'));
    });
    addEventListener('storage', () => {
      show();
      dispatchEvent(new Event('themechange'));
    });
  });
})();
