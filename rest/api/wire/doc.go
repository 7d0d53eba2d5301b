// Package wire encodes the values of responses: times in RFC 3339, lists that are never null, and null for absent
// values.
package wire
