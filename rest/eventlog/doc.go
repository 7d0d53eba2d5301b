// Package eventlog is the event log of the API, as pages and as a stream.
package eventlog
