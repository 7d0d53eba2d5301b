// Package graph implements the GraphQL API: one schema to read the data of an account, and mutations. Mutations of the
// queue, for which REST has no resource, call its service; repeating them is harmless. All others call the REST API
// within the process (rest.go), so that validation, idempotency and audit have one implementation.
//
// # Requests
//
// Requests are POST with a JSON body and an API key. Queries can also be sent with GET, and everything over WebSocket.
// A request refused before its body is parsed as a GraphQL request (method, credential, media type, size) gets a
// response like REST, `{"error": {…}}` with its status. Every later response is a GraphQL response with `errors`:
//
//   - 400: not a GraphQL request, or a query that is invalid or too expensive
//   - 503 with Retry-After: the database is unavailable, and `data` can be partial
//   - 200: everything else, even if individual fields have errors
//
// The extensions.code of an error is the same as in REST. There are also `query_too_complex` and `internal_error`,
// which contains only the request ID.
//
// # Nullability
//
// The ID of another account's object behaves like an unknown ID: the field is null, without an error. A page beyond
// the end of a list is empty.
//
// # Modules
//
// A root field has `@module(name:)`. At startup, fields of disabled modules are removed from the schema with all types
// that only they use. Validation and introspection both use the pruned schema, so a removed field does not exist for
// clients.
//
// # Cost
//
// A list loads related data once per page, not once per entry (model.EmailPage). The size, tokens, depth,
// aliases, directives and complexity of a query are limited, see package limits.
//
// # Layout
//
// This package contains the resolvers and conversions, two files for each SDL file. HTTP is in package
// transport, the SDL in schema, lists in connection, the caller in inquiry, errors in refusal.
package graph
