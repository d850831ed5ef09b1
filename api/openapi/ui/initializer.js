// Relative, so that the page works behind a proxy that adds a prefix.
window.ui = SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  showExtensions: true,
  validatorUrl: null,
});
