// Package billing is what the caller's account pays for and uses, in the API.
package billing
