// Package webhooks serves the resource webhooks: endpoints, their deliveries, and test events.
package webhooks
