// Package addressrules defines which addresses of a domain exist. Rules are evaluated in order and the first match
// decides; a default applies to all other addresses.
//
// Rules belong to one account's use of a domain. They do not apply after another account has proved control of the
// domain. A domain without rules accepts mail for every address; postmaster always exists (RFC 5321 section 4.5.1).
//
// A Book stores the rules of all domains. Its cache may be up to 5 seconds older than a change made by another process.
package addressrules
