// Package diff compares two definitions of automations step by step.
package diff
