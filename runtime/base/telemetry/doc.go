// Package telemetry provides logs, metrics and traces for operators.
//
// A request gets one log line when it ends. Code that learns something about the request on the way (the
// caller, the error code) adds it to the record in the context, see Request. The line has the route and
// never the path or query, because public links carry tokens there.
//
// Log attributes use the keys of keys.go and no others, so that one search finds an id wherever it was
// logged. Lines logged with a context include the request id and the trace.
//
// Tracing is off, and costs nothing, unless an OTLP endpoint is set.
package telemetry
