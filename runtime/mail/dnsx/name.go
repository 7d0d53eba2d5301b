package dnsx

import "strings"

// CanonicalName returns a name in the form in which names compare: DNS ignores ASCII case, and a
// final dot only says that the name is complete (RFC 4343, RFC 1034 section 3.1).
func CanonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
