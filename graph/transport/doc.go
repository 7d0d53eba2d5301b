// Package transport serves GraphQL over HTTP: it authenticates callers, reads requests within a memory budget,
// executes them, streams subscriptions as Server-Sent Events or over WebSocket, and records mutations. It replaces
// gqlgen's own transports, which echo bodies that they cannot decode, return 422, and admit a WebSocket only once.
package transport
