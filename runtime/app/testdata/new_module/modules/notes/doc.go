// Package notes keeps one note for each account until somebody is erased. It is the
// module that the test of the registry adds to a copy of the source tree.
package notes
