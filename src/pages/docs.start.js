// Runs in the browser, after Scalar's script. Nothing here may reach beyond this origin.
const { document: url, scheme } = document.querySelector('#reference').dataset;
const system = matchMedia('(prefers-color-scheme: dark)');
const configuration = () => ({
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
  forceDarkModeState: document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light'),
});
const reference = globalThis.Scalar.createApiReference('#reference', configuration());
const update = () => reference.updateConfiguration(configuration());
addEventListener('themechange', update);
system.addEventListener('change', update);
