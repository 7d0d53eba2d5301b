// Package development is the part of the assembly that development mode adds: a first account with a key and
// a domain, the receivers that simulate failures, and the banner and the file with all addresses.
package development
