// Package operator serves the operators of the installation: its accounts, plans, payments and audit log.
package operator
