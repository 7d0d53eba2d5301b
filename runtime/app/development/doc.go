// Package development is the part of the assembly that development mode adds: an account with
// a key and a domain to begin with, the receivers that play failures, and the banner and the
// file that say where everything is.
package development
