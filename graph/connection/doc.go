// Package connection answers lists as GraphQL has them: which page the arguments ask for, its edges and cursors,
// and errors that name arguments as callers know them.
package connection
