// Package notes stores one note for each account until a person is erased. The test of the registry adds this module to
// a copy of the source tree.
package notes
