// Package automations serves the resources automations, automation runs and custom events.
package automations
