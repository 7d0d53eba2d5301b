// Package rights says what kinds of operations there are, and which of them the scope of an API key and
// the role of a member permit. It is one table, and pure: REST, GraphQL and tests read it.
package rights
