package sending

import "github.com/postrider/postrider/runtime/mail/address"

// RefusedHeaders returns the names of header fields that callers may not set, sorted. A
// name that ends in * stands for all that begin so.
func RefusedHeaders() []string { return address.RefusedHeaders() }
