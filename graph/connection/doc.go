// Package connection builds GraphQL connections: the requested page, its edges and cursors, and errors that
// use the argument names of callers.
package connection
