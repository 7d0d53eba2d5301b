// Package events measures automations from inside: it posts custom events to the service itself,
// without HTTP, and fills scratch databases with live runs.
package events
