// Runs in the browser, after Scalar's script. Nothing here may reach beyond this origin.
const { document: url, scheme } = document.querySelector('#reference').dataset;
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
});
