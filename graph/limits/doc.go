// Package limits bounds what a query may ask for, by its shape and by its cost, before it is validated.
package limits
