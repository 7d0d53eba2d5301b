// Package setting declares the settings of an installation.
//
// A setting is declared once, as a variable next to the code that reads it:
//
//	var LanesFile = setting.Declare(setting.Setting[string]{
//		Name: "POSTRIDER_LANES_FILE", Group: "Delivery", Form: setting.Text("PATH"),
//		Help: "Limits per mailbox provider that replace or join the built-in ones.",
//	})
//
// and read with LanesFile.Get(values). That is all: the flag, the key in the YAML file, the help,
// docs/settings.md, the log line with the configuration and the warning about unknown variables are derived
// from the declarations. A test of package app writes the page with -update and fails while it is out of
// date.
//
// Texts are the values as given: from a flag, else an environment variable, else a key of the file. An
// empty text counts as not set. Read turns the texts of a start into Values and has no side effects. Its
// error lists every mistake, by the name of the setting. Whether the named things exist (folders, servers,
// modules) is checked when they are used.
//
// A default is a constant (Default), or is derived from the mode and from other settings (From, with
// DefaultText for readers). A value that an operator cannot set is not a setting: it is a constant next to
// the code that uses it.
//
// Secrets never appear in mistakes or in the log.
package setting
