// Package api serves the HTTP JSON API below /api: it decodes a request, calls one method of a service, and
// encodes the result.
//
// Each resource is a separate package, named after its subject. It declares wire structs, the interface that
// it needs from its service, the bodies that it reads (package body), and a function Routes that adds its
// operations: List, Get, Delete, Handle, Once and similar ones. New receives only the routes of enabled modules,
// so the operations of a disabled module return 404 and are absent from the OpenAPI document. The name of a wire
// struct is the name of its component there.
//
// A request is checked in this order: credential, rate limit of the account, scope, query parameters. Only then is
// its body read, within the budget of runtime/base/intake, and the handler runs. Package problem translates the
// errors of services into responses.
package api
