// Package compat serves the APIs of other email providers, so that an integrator can move to Postrider by
// changing a base URL and a key.
//
// Each provider has a package below this one: a table of routes with a function each. A handler translates the
// request, calls our own API within the process ([Call.Do]), and translates the answer. Every rule is therefore
// applied once: the scope of the key, the rate limit, idempotency, the audit log, the request log and the checks of
// every field are those of rest/api. Nothing here owns a rule or a table.
//
// A request passes, in this order: the key in the form of the provider, the route, and only then is its body read,
// within the budget of runtime/base/intake. A call that Postrider does not have is refused with a sentence that
// names the feature ([Unsupported]), never ignored.
package compat
