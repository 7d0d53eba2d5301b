// Package graph is the GraphQL edge: one schema over what an account holds, to
// read, and mutations for its queue, for which REST has no resource. Other changes go
// through REST, which has one path for validation, idempotency and audit. The
// mutations of the queue do no harm when they are asked for twice.
//
// # Requests
//
// POST with a JSON body and an API key, nothing else. What is refused before the
// body is understood as a GraphQL request (method, credential, media type, size)
// is answered like REST, `{"error": {…}}` with its status. Everything after that
// is a GraphQL response with `errors`:
//
//   - 400: not a GraphQL request, or a query that is wrong or asks for too much;
//   - 503 with Retry-After: the database is away, `data` may be there in part;
//   - 200: everything else, also when single fields have errors.
//
// extensions.code of an error is the code of REST. Besides these there are
// `query_too_complex` and `internal_error`, which says nothing but the request id.
//
// # Nullability
//
// Another account's id answers like an unknown one: null, without an error. A
// page beyond the end of a list is empty.
//
// # Modules
//
// A root field carries `@module(name:)`. At start the schema is pruned of what is
// switched off, with all types that only it led to; validation and introspection
// both see the pruned one, so a hidden field is one that never existed.
//
// # Cost
//
// A list reads what hangs off its entries once per page and not once per entry
// (model.EmailPage). Size, tokens, depth, aliases, directives and the complexity
// of a query are bounded, see package limits.
//
// # Where things stand
//
// Here are the resolvers and what they show, two files for each SDL file. HTTP is in package transport,
// the SDL in schema, lists in connection, the caller in inquiry, errors in refusal.
package graph
