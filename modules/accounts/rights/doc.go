// Package rights defines the kinds of operations, and which of them the scope of an API key and the role of a
// member permit. It is a single table without state, read by REST, GraphQL and tests.
package rights
