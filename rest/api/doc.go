// Package api is the machinery of the HTTP JSON API: decode, one call of a service,
// encode. Everything hangs below /api.
//
// The resources live in packages below this one, named by their subject. A resource
// declares wire structs, the interface that it needs from its service, the bodies that
// it reads (package body), and a function Routes that adds its operations: List, Get,
// Delete, Handle, Once and their kin. Only the routes of modules that are on are given
// to New, so a module that is off is a 404 and absent from the OpenAPI document. The
// name of a wire struct is the name of its component there.
//
// A request passes, in this order: the bearer key, the rate limit of its account, the
// scope that the operation needs, its query parameters, and only then is its body read,
// within the budget of runtime/base/intake. Then the handler runs. Every error of a service
// becomes an answer in package problem.
package api
