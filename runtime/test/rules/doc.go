// Package rules contains tests that read the source code and enforce its structure: which package may import
// which, which module writes which table, what package comments state, and that documents refer to existing
// things. Each failure prints the reason of its rule.
package rules
