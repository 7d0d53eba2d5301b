// Package inquiry contains the state of a request for resolvers: the caller and its rights, the remaining budget for
// bodies in bytes, the selected fields, and whether a subscription has started.
package inquiry
