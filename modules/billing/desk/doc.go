// Package desk implements billing for the operator of an installation: it sets up the payment provider,
// compares the plans here with the prices there, and shows what is pending or failing.
package desk
