// Package api is the REST edge: routes, who may call them, and the server
// that carries them.
//
// The lines below head the document of the API. `make docs` writes it to api/openapi from
// the comments above the controllers and the table of routes.
//
//	@title			platform-scheduler
//	@version		1
//	@description	Jobs, their schedules and their runs. Errors are problems (RFC 9457): branch on code. Times are RFC 3339 in UTC with milliseconds, durations are whole numbers whose name carries the unit. Unknown fields and parameters are refused; null is the same as absent.
//	@license.name	Apache-2.0
//	@BasePath		/
//	@accept			json
//	@produce		json
//
//	@securityDefinitions.apikey	BearerAuth
//	@in							header
//	@name						Authorization
//	@description				The word Bearer, a space, and the token of a session (POST /api/v1/auth/login) or an API token.
//
//	@securityDefinitions.apikey	CookieAuth
//	@in							cookie
//	@name						ps_session
//	@description				The session of a browser. Calls that change something also carry its CSRF token in a header.
package api
