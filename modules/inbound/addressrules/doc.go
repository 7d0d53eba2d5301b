// Package addressrules says which addresses of a domain exist: its rules, in an order in
// which the first that matches decides, and what becomes of an address that none matches.
//
// Rules belong to a domain as one account has it. They do not go along with a domain that
// another account has proved control of. A domain without rules takes mail for every
// address; postmaster always exists (RFC 5321 section 4.5.1).
//
// A Book keeps the rules of all domains. What it knows from memory may be 5 seconds behind a
// change made by another process.
package addressrules
