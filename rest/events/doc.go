// Package events describes the events of the catalog in the OpenAPI document: the data of each type, and the requests
// to webhook endpoints. Everything is derived from runtime/work/event: the fields from the Go types of the payloads,
// the rest from the catalog.
package events
