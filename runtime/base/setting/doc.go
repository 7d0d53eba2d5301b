// Package setting declares what an operator can set.
//
// A setting is declared once, as a variable beside the code that reads it:
//
//	var LanesFile = setting.Declare(setting.Setting[string]{
//		Name: "POSTRIDER_LANES_FILE", Group: "Delivery", Form: setting.Text("PATH"),
//		Help: "Limits per mailbox provider that replace or join the built-in ones.",
//	})
//
// and read with LanesFile.Of(values). Nothing else is to be done: the flag, the key of
// the YAML file, the help, docs/settings.md, the log line with the configuration and the
// warning about unknown variables are made from the declarations. A test of package
// assembly writes the page with -update and fails while it is old.
//
// Texts are what somebody gave: a flag, else an environment variable, else a key of the
// file. An empty text counts as not given. Read turns the texts of a start into Values
// and does nothing else. Its error has everything that is wrong, by the name of the
// setting. Whether the things named exist (folders, servers, modules) comes out later,
// when they are used.
//
// A default is a constant (Default), or follows from the mode and from other settings
// (From, with DefaultText for readers). What an operator cannot set is no setting: it is
// a constant beside the code that uses it.
//
// Secrets do not show, neither in mistakes nor in the log.
package setting
