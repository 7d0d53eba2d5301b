// Package describe writes shell completion scripts and the man page. Both are derived from the declarations
// that kong reads, so new commands are included automatically.
package describe
