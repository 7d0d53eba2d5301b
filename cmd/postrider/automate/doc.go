// Package automate implements `postrider automation`. It keeps definitions of automations in files, one
// definition per file in JSON or YAML, so that they can be reviewed and tested in a repository. Definitions
// are matched by name.
package automate
