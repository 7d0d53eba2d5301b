// Package config declares the settings of the installation: those that several parts read, or that are
// needed before any module.
//
// The settings of a single module are in its settings.go. Package setting explains how a setting is
// declared and read.
package config
