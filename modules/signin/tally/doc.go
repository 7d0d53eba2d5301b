// Package tally counts what attempts to sign in came to, for the operator's metrics.
package tally
