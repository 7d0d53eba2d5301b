// Package desk is where the operator looks after the accounts of an installation and the plans that it
// offers. Every change is written to the audit log twice: where its account sees it, and where
// operators do.
package desk
