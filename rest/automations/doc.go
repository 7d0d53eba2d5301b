// Package automations is the resources automations, automation runs and custom events of the
// API.
package automations
