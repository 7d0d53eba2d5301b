// Package eventlog serves the event log, in pages and as a stream.
package eventlog
