// Package desk implements billing for the operator of an installation: it sets up the payment provider,
// compares the plans with the prices there, and shows pending and failing work.
package desk
