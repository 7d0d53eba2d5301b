// Package transport serves GraphQL over HTTP: it authenticates callers, reads requests within a memory budget,
// executes them, streams subscriptions as Server-Sent Events and records mutations. It replaces gqlgen's own
// transport, which echoes bodies that it cannot decode, accepts more transports than we do and returns 422.
package transport
