// Package describe writes shell completion scripts and the man page. Both are derived from the declarations
// that kong reads, so a new command needs nothing else.
package describe
