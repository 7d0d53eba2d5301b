// Package compat serves the APIs of other email providers, so that an integrator can move to Postrider by
// changing a base URL and a key.
//
// Each provider has a package below this one, with a table of routes and their handlers. A handler translates
// the request, calls our own API within the process ([Call.Do]), and translates the response. Every rule
// therefore has one implementation, in rest/api: the scope of the key, the rate limit, idempotency, the audit
// log, the request log and the validation of fields. This package has neither rules nor tables.
//
// A request is checked in this order: the key in the provider's format, then the route. Only then is its body read,
// within the budget of runtime/base/intake. An unsupported feature is refused by name ([Unsupported]), never ignored.
package compat
