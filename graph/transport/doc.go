// Package transport is GraphQL over HTTP: it admits callers, reads requests within a budget of memory, runs
// them, answers, streams subscriptions as Server-Sent Events and has mutations recorded. It stands in for
// gqlgen's own, which echoes bodies that it cannot decode, accepts more transports than we do and answers 422.
package transport
