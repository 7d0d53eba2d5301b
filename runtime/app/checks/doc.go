// Package checks is the part of the assembly that creates the checks of the doctor: it turns the settings and
// the database of an installation into checks of package doctor, for `postrider doctor`, and repeats them in
// a running service.
package checks
