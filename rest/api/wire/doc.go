// Package wire is how answers show values: moments in RFC 3339, lists that are never
// null, null for what there is none of.
package wire
