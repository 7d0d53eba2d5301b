// Package rules has the tests that read the source code and hold the house in
// shape: which package may import which, which module writes which table, what
// each package says about itself, and that documents name things that exist.
// Each failure prints the reason of its rule.
package rules
