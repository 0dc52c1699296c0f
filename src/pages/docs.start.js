// Runs in the browser, after Scalar's script. Nothing here may reach beyond this origin.
globalThis.Scalar.createApiReference('#reference', {
  url: '/api/v1/openapi.json',
  // The page may be open under another name of this machine than the document's server has.
  servers: [{ url: location.origin }],
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultOpenAllTags: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
});
