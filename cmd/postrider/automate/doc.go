// Package automate is the client behind `postrider automation`: it keeps definitions of
// automations as files, one a file, in JSON or YAML, so that they can be reviewed and tested in
// a repository. A definition is matched by its name.
package automate
