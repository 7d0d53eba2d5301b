// Package config declares the settings of the installation: those that several parts
// read, or that are there before any module is.
//
// Settings of one module stand beside it, in its settings.go. Package setting says how
// a setting is declared and read.
package config
