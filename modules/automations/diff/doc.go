// Package diff says what two definitions of automations say differently, step by step.
package diff
