// Package webhooks is the resource webhooks of the API: endpoints, what was delivered to
// them, and events made to test them.
package webhooks
