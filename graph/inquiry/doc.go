// Package inquiry holds what resolvers know about the request: the caller and its rights, the remaining
// budget for bodies in bytes, the selected fields, and whether a subscription has started.
package inquiry
