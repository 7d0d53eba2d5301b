// Package desk lets the operator manage the accounts of an installation and the plans that it offers. Every
// change is written to the audit log of its account and to that of the operators.
package desk
