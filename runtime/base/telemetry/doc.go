// Package telemetry tells operators what Postrider does: logs, metrics, traces.
//
// A request gets one log line when it ends, with everything that was learned on
// the way: whoever learns something (who is calling, which error was answered)
// puts it on the request's record in the context, see Request. The line names
// the route and never the path or query, because public links carry tokens there.
//
// Log attributes have the keys of keys.go and no others, so that one search finds
// an id wherever it was logged. Lines written with a context carry the request id
// and the trace.
//
// Tracing is off, and costs nothing, until an OTLP endpoint is set.
package telemetry
