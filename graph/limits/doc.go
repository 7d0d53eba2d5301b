// Package limits bounds the shape and cost of a query before it is validated.
package limits
