// Package rights defines the kinds of operations, and which of them an API key's scope and a member's role
// permit. It is a single stateless table, read by REST, GraphQL and tests.
package rights
