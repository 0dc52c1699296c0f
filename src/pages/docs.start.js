// Runs in the browser, after Scalar's script. Nothing here may reach beyond this origin.
const { document: url, scheme } = document.querySelector('#reference').dataset;
const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
globalThis.Scalar.createApiReference('#reference', {
  url,
  // The page may be open under another name of this machine than the document's server has.
  servers: [{ url: location.origin }],
  authentication: { preferredSecurityScheme: scheme },
  defaultOpenAllTags: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
  // The header has the choice.
  hideDarkModeToggle: true,
  forceDarkModeState: isDark() ? 'dark' : 'light',
});
// Scalar reads a forced state once. Its colors follow these classes.
const update = () => {
  document.body.classList.toggle('dark-mode', isDark());
  document.body.classList.toggle('light-mode', !isDark());
};
addEventListener('themechange', update);
system.addEventListener('change', update);
