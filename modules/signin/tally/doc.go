// Package tally counts sign-in attempts by result, for metrics.
package tally
